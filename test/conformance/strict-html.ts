const VOID = new Set(['br', 'hr', 'input']);

/** Every start tag the web printer may write, with exactly the attributes it may have. */
const START_TAGS: readonly RegExp[] = [
  /^<(?:p|h[1-6]|strong|em|u|del|code|pre|blockquote|ul|ol|li|table|thead|tbody|tr|th|td|br|hr)>$/,
  /^<(?:th|td) class="(?:left|right|center)">$/,
  /^<li value="\d{1,9}">$/,
  /^<li class="continued">$/,
  /^<span class="spoiler">$/,
  /^<code class="language-[\w+#.-]+">$/,
  /^<input type="checkbox" disabled(?: checked)?>$/,
  /^<a href="(?:https?:|mailto:)[^"<>]*" rel="noopener noreferrer nofollow">$/i,
];

/**
 * Reads HTML that may contain only what a page trusts: known tags and attributes, properly nested,
 * everything else escaped.
 * @returns the text between the tags.
 * @throws Error at the first thing that is not allowed.
 */
export function readStrictHtml(html: string): string {
  const open: string[] = [];
  let text = '';
  for (const [piece] of html.matchAll(/<[^>]*>?|[^<]+/g)) {
    if (!piece.startsWith('<')) {
      if (/[>"]|&(?!(?:amp|lt|gt|quot);)/.test(piece)) throw new Error(`not escaped: ${piece}`);
      text += piece;
      continue;
    }
    const name = /^<\/?([a-z0-9]+)/.exec(piece)?.[1] ?? '';
    if (piece === `</${name}>`) {
      if (open.pop() !== name) throw new Error(`badly nested: ${piece} in ${html}`);
    } else if (!START_TAGS.some((allowed) => allowed.test(piece))) {
      throw new Error(`not allowed: ${piece}`);
    } else if (!VOID.has(name)) open.push(name);
    if (name === 'a' && open.filter((tag) => tag === 'a').length > 1)
      throw new Error('link in link');
  }
  if (open.length > 0) throw new Error(`not closed: ${open.join(' ')}`);
  return text;
}
