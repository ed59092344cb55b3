export function App() {
  return <main><h1>agentstream</h1></main>;
}
