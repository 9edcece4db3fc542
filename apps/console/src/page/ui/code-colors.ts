import { common, createLowlight } from 'lowlight';

/** Colors for the parts of a program; everything else has the text color. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  keyword: ['keyword', 'literal', 'built_in', 'selector-tag', 'name', 'tag'],
  string: ['string', 'regexp', 'addition', 'char', 'link'],
  number: ['number', 'symbol', 'bullet', 'variable', 'attr', 'attribute', 'property'],
  title: ['title', 'type', 'section', 'selector-class', 'selector-id', 'meta'],
  comment: ['comment', 'quote', 'deletion', 'doctag'],
};

/**
 * Code that is longer than this, in characters, is not colored, because coloring would block the
 * page.
 */
const MAX_CHARACTERS = 50_000;

interface CodeToken {
  readonly group: string;
  readonly start: number;
  readonly end: number;
}

const lowlight = createLowlight(common);
const colored = new WeakMap<
  Element,
  readonly { readonly group: string; readonly range: Range }[]
>();

/** Colors the code inside `box` without changing its elements, so that selections survive. */
export function colorCode(box: Element): void {
  clearColors(box);
  const ranges = [...box.querySelectorAll('pre > code[class^="language-"]')].flatMap(listRanges);
  for (const { group, range } of ranges) getHighlight(group).add(range);
  colored.set(box, ranges);
}

/** Removes the colors of elements that are about to be replaced or removed. */
export function clearColors(box: Element): void {
  for (const { group, range } of colored.get(box) ?? []) getHighlight(group).delete(range);
  colored.delete(box);
}

function getHighlight(group: string): Highlight {
  const name = `code-${group}`;
  const known = CSS.highlights.get(name);
  if (known !== undefined) return known;
  const made = new Highlight();
  CSS.highlights.set(name, made);
  return made;
}

function listRanges(code: Element): readonly { readonly group: string; readonly range: Range }[] {
  const text = code.firstChild;
  const language = code.className.replace(/^language-/, '').toLowerCase();
  if (!(text instanceof Text) || text.length > MAX_CHARACTERS || !lowlight.registered(language))
    return [];
  return toTokens(lowlight.highlight(language, text.data)).map(({ group, start, end }) => {
    const range = document.createRange();
    range.setStart(text, start);
    range.setEnd(text, end);
    return { group, range };
  });
}

type HighlightRoot = ReturnType<typeof lowlight.highlight>;

/** The innermost token determines the color of each piece. */
function toTokens(root: HighlightRoot): readonly CodeToken[] {
  const tokens: CodeToken[] = [];
  let at = 0;
  const walk = (nodes: HighlightRoot['children'], group: string | undefined): void => {
    for (const node of nodes) {
      if (node.type === 'text') {
        if (group !== undefined) tokens.push({ group, start: at, end: at + node.value.length });
        at += node.value.length;
      } else if (node.type === 'element') {
        walk(node.children, findGroupName(node.properties.className) ?? group);
      }
    }
  };
  walk(root.children, undefined);
  return tokens;
}

function findGroupName(classes: unknown): string | undefined {
  const kind = Array.isArray(classes) ? String(classes[0]).replace(/^hljs-/, '') : '';
  return Object.keys(GROUPS).find((group) => GROUPS[group]?.includes(kind));
}
