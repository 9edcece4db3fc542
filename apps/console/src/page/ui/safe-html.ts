/**
 * Elements that the gateway's printer of Markdown makes, with the attributes each may have. The
 * printer escapes everything; this is the second lock, for a page that shows what strangers wrote.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  blockquote: [],
  br: [],
  code: ['class'],
  del: [],
  em: [],
  h1: [],
  h2: [],
  h3: [],
  h4: [],
  h5: [],
  h6: [],
  hr: [],
  input: ['type', 'checked', 'disabled'],
  li: ['value', 'class'],
  ol: [],
  p: [],
  pre: [],
  span: ['class'],
  strong: [],
  table: [],
  tbody: [],
  td: ['class'],
  th: ['class'],
  thead: [],
  tr: [],
  u: [],
  ul: [],
};

const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/** Parses an answer where nothing runs or loads, and takes out whatever is not on the list. */
export function safeFragment(html: string): DocumentFragment {
  const template = document.createElement('template');
  template.innerHTML = html;
  for (const element of template.content.querySelectorAll('*')) clean(element);
  return template.content;
}

function clean(element: Element): void {
  const attributes = ALLOWED[element.localName];
  if (attributes === undefined || element.namespaceURI !== 'http://www.w3.org/1999/xhtml') {
    element.replaceWith(document.createTextNode(element.textContent ?? ''));
    return;
  }
  for (const { name } of [...element.attributes]) {
    if (!attributes.includes(name)) element.removeAttribute(name);
  }
  if (element instanceof HTMLInputElement) element.type = 'checkbox';
  if (element instanceof HTMLAnchorElement) cleanLink(element);
}

function cleanLink(link: HTMLAnchorElement): void {
  const address = link.getAttribute('href') ?? '';
  if (!URL.canParse(address) || !SCHEMES.has(new URL(address).protocol)) {
    link.removeAttribute('href');
    return;
  }
  // A page of its own, that cannot reach back to this one.
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
}
