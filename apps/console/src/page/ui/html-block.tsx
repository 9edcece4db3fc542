import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Shows an answer rendered by the gateway. While an answer is being written, only changed blocks
 * are replaced.
 */
export function HtmlBlock({ html }: { readonly html: string }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const maths = useRef<MathModule | null>(null);
  useLayoutEffect(() => {
    if (!box.current) return;
    const fragment = sanitizeHtml(html);
    decorateBlocks(fragment);
    maths.current?.renderFormulas(fragment);
    replaceChangedBlocks(box.current, fragment);
  }, [html]);
  useEffect(() => renderMath(box.current, maths), [html]);
  useEffect(() => colorCodeWhenIdle(box.current), [html]);
  useEffect(() => box.current?.addEventListener('click', onCopyClick), []);
  return <div ref={box} class="prose" dir="auto" />;
}

type MathModule = typeof import('./maths.ts');

/**
 * Loads the formula library for the first formula in an answer; later formulas in the same answer
 * are drawn immediately.
 */
function renderMath(
  box: Element | null,
  maths: { current: MathModule | null },
): (() => void) | undefined {
  if (!box?.querySelector('.math')) return undefined;
  let end: (() => void) | undefined;
  let isOver = false;
  const load = async (): Promise<void> => {
    maths.current ??= await import('./maths.ts');
    if (isOver) return;
    maths.current.renderFormulas(box);
    end = maths.current.fitFormulas(box);
  };
  // If an update of the gateway has removed the file, the formula's source stays readable.
  load().catch(() => undefined);
  return () => {
    isOver = true;
    end?.();
  };
}

/** The text of an answer as a person would write it, including the source of each formula. */
export function getProseText(prose: HTMLElement): string {
  const spans = [...prose.querySelectorAll<HTMLElement>('.math[data-source]')];
  const drawn = spans.map((span) => [...span.childNodes]);
  // The formulas are replaced by their source between two paints, because only displayed elements
  // have an `innerText`.
  for (const span of spans) {
    const lines = (span.dataset.source ?? '').split('\n');
    span.replaceChildren(
      ...lines.flatMap((line, nth) => (nth === 0 ? [line] : [createLineEnd(), line])),
    );
  }
  const text = prose.innerText;
  for (const [nth, span] of spans.entries()) span.replaceChildren(...(drawn[nth] ?? []));
  return text;
}

function createLineEnd(): HTMLElement {
  return document.createElement('br');
}

/** How long (ms) a growing answer must pause before its code is colored again. */
const QUIET_MS = 200;

/** Loads the code coloring library for the first code block with a language name. */
function colorCodeWhenIdle(box: Element | null): (() => void) | undefined {
  if (!box?.querySelector('code[class^="language-"]') || !('highlights' in CSS)) return undefined;
  let clear: (() => void) | undefined;
  let isOver = false;
  const timer = setTimeout(async () => {
    const colors = await import('./code-colors.ts');
    if (isOver) return;
    colors.colorCode(box);
    clear = () => colors.clearColors(box);
  }, QUIET_MS);
  return () => {
    isOver = true;
    clearTimeout(timer);
    clear?.();
  };
}

/**
 * Replaces only changed blocks, so that a selection or a scrolled code block stays intact when the
 * next piece of the answer arrives.
 */
function replaceChangedBlocks(box: Element, fragment: DocumentFragment): void {
  const next = [...fragment.childNodes];
  const old = [...box.childNodes];
  for (const [index, node] of next.entries()) {
    const before = old[index];
    if (before === undefined) box.append(node);
    else if (!before.isEqualNode(node)) before.replaceWith(node);
  }
  for (const rest of old.slice(next.length)) rest.remove();
}

function decorateBlocks(fragment: DocumentFragment): void {
  for (const pre of fragment.querySelectorAll('pre')) pre.replaceWith(createCodeBox(pre));
  for (const table of fragment.querySelectorAll('table')) {
    const box = createScrollBox('table-box', 'Table');
    table.replaceWith(box);
    box.append(table);
  }
  for (const spoiler of fragment.querySelectorAll<HTMLElement>('.spoiler')) {
    spoiler.tabIndex = 0;
    spoiler.title = 'Hidden text: hover over it or focus it to read it';
  }
}

function createCodeBox(pre: HTMLPreElement): HTMLElement {
  const language = /(?:^|\s)language-(\S+)/.exec(pre.firstElementChild?.className ?? '')?.[1];
  const name = Object.assign(document.createElement('span'), { textContent: language ?? 'text' });
  const facts = { type: 'button', className: 'quiet', textContent: 'Copy', ariaLabel: 'Copy code' };
  const copy = Object.assign(document.createElement('button'), facts);
  copy.dataset.copy = '';
  const bar = Object.assign(document.createElement('div'), { className: 'code-bar' });
  bar.append(name, copy);
  const scroll = createScrollBox('code-scroll', 'Code');
  scroll.append(pre.cloneNode(true));
  const box = Object.assign(document.createElement('div'), { className: 'code-box' });
  box.append(bar, scroll);
  return box;
}

/** A scrollable box for content that is too wide, reachable by keyboard. */
function createScrollBox(className: string, ariaLabel: string): HTMLElement {
  const facts = { className, tabIndex: 0, role: 'group', ariaLabel };
  return Object.assign(document.createElement('div'), facts);
}

const COPIED_MS = 1_600;

function onCopyClick(event: MouseEvent): void {
  const { target } = event;
  if (!(target instanceof HTMLButtonElement) || target.dataset.copy === undefined) return;
  const pre = target.closest('.code-box')?.querySelector('pre');
  if (pre) copyText(pre, target);
}

async function copyText(pre: HTMLPreElement, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(pre.textContent ?? '');
    button.textContent = 'Copied';
  } catch {
    // Without HTTPS, browsers block the clipboard except on localhost.
    getSelection()?.selectAllChildren(pre);
    button.textContent = 'Selected: press Ctrl+C';
  }
  setTimeout(() => {
    button.textContent = 'Copy';
  }, COPIED_MS);
}

/**
 * The elements that the gateway's Markdown printer creates, each with its allowed attributes. The
 * printer already escapes everything; this is a second line of defense, because the page shows text
 * written by strangers.
 */
const PLAIN = 'blockquote br del em h1 h2 h3 h4 h5 h6 hr ol p pre strong table tbody thead tr u ul';
const ALLOWED: ReadonlyMap<string, readonly string[]> = new Map([
  ...PLAIN.split(' ').map((name): [string, string[]] => [name, []]),
  ['a', ['href']],
  ['code', ['class']],
  ['input', ['type', 'checked', 'disabled']],
  ['li', ['value', 'class']],
  ['span', ['class']],
  ['td', ['class']],
  ['th', ['class']],
]);

const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/** Parses an answer in an inert document and removes everything that is not on the list. */
function sanitizeHtml(html: string): DocumentFragment {
  const template = document.createElement('template');
  template.innerHTML = html;
  for (const element of template.content.querySelectorAll('*')) cleanElement(element);
  return template.content;
}

function cleanElement(element: Element): void {
  const attributes = ALLOWED.get(element.localName);
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
  // Opens in a separate page that cannot access this one.
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
}
