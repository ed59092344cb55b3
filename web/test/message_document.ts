// A document with everything in it, for tests that cut it anywhere.
export const everything = `# Heading with **bold** and \`code\`

A paragraph with *emphasis*, **strong words**, ***both***, ~~gone~~, \`inline code\`, a [link](https://example.org/path_(x)?q=1),
an autolink https://example.org/a_b, an escape \\*not bold\\*, and snake_case_words that stay.
Second line with a trailing break  
after it, &lt;entities&gt; &amp; <b>tags</b>.

- one
- two with **bold**
  - nested \`a\`

    a paragraph of the nested item
- three

1. first
2. second

   \`\`\`sh
   echo in a list
   \`\`\`
3. third

- [x] done task
- [ ] open task

| name | value |
|:-----|------:|
| a \\| b | \`1\` |
| **c** | 2 |

> A quote
> with two lines
>
> - and a list

\`\`\`go
func main() {

	fmt.Println("**not bold**")
}
\`\`\`

~~~
tilde fence with \`\`\` inside
~~~

\`\`\`\`markdown
\`\`\`js
nested
\`\`\`
\`\`\`\`

Setext heading
==============

---

    indented code

    more of it

![picture](data:image/png;base64,iVBORw0KGgo=) and ![remote](https://example.org/x.png "t")

See [the reference][ref] and [ref].

[ref]: https://example.org/ref "Title"

مرحبا **بالعالم** שלום 你好 🎉

Last paragraph, [half a link](https://example.org`;
