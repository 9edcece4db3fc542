import { Parser } from 'htmlparser2';

/**
 * Converts HTML or XHTML to lines of simple Markdown in one pass, without building a tree; used for
 * chapters of a book and for pages that are too large to be parsed. Scripts, styles and hidden
 * elements are omitted.
 */
export function formatMarkup(markup: string): string {
  const pieces: string[] = [];
  let hidden = 0;
  let pre = 0;
  const open: boolean[] = [];
  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        const isHidden = UNSEEN.has(tag) || isHiddenElement(attributes);
        open.push(isHidden);
        if (isHidden) hidden += 1;
        if (tag === 'pre') pre += 1;
        if (hidden === 0) pieces.push(OPENING[tag] ?? (BLOCKS.has(tag) ? '\n' : ''));
        if (hidden === 0 && tag === 'img' && attributes.alt) {
          pieces.push(`(picture: ${attributes.alt})`);
        }
      },
      onclosetag(tag) {
        if (hidden === 0) pieces.push(CLOSING[tag] ?? (BLOCKS.has(tag) ? '\n' : ''));
        if (open.pop() === true) hidden -= 1;
        if (tag === 'pre') pre -= 1;
      },
      ontext(text) {
        if (hidden === 0) pieces.push(pre > 0 ? text : text.replace(/\s+/g, ' '));
      },
    },
    { decodeEntities: true },
  );
  parser.end(markup);
  return pieces
    .join('')
    .replace(/[ \t]*\n[ \t]*/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

const UNSEEN: ReadonlySet<string> = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'iframe',
  'object',
  'svg',
  'math',
  'head',
]);

/** Block elements, which begin and end a line. */
const BLOCKS: ReadonlySet<string> = new Set(
  'address article aside blockquote body dd div dl dt figcaption figure footer form header hr li main nav ol p pre section table tr ul'.split(
    ' ',
  ),
);

const OPENING: Readonly<Record<string, string>> = {
  h1: '\n\n# ',
  h2: '\n\n## ',
  h3: '\n\n### ',
  h4: '\n\n#### ',
  h5: '\n\n##### ',
  h6: '\n\n###### ',
  li: '\n- ',
  p: '\n\n',
  br: '\n',
};

const CLOSING: Readonly<Record<string, string>> = {
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, '\n\n'])),
  p: '\n\n',
  td: '\t',
  th: '\t',
  br: '',
};

function isHiddenElement({
  hidden,
  style = '',
  ...rest
}: Readonly<Record<string, string>>): boolean {
  if (hidden !== undefined || rest['aria-hidden'] === 'true') return true;
  return /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:[;p\s]|$)/i.test(style);
}
