// What the shell needs of how messages look.
export { CopyButton } from "./Code";
export { DiffView } from "./DiffView";
export { Icon, kindIcon, type IconName } from "./icons";
export { Markdown } from "./Markdown";
export { MediaView } from "./MediaView";
export { ErrorPart, Notice } from "./Notice";
export { PartView } from "./PartView";
export { Plan } from "./Plan";
export { fetchBlob, type Slots } from "./slots";
export { StateMark } from "./State";
export { TerminalView } from "./Terminal";
export { bytes, clean, duration } from "./text";
export { TurnView } from "./TurnView";
export { UsageBar } from "./UsageBar";
