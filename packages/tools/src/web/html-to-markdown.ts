import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { gfm } from 'turndown-plugin-gfm';

/** A page as it is read. */
export interface ReadablePage {
  readonly title: string;
  readonly markdown: string;
}

/**
 * The main text of a page as Markdown, or all of it where there is no main text. Takes as long and as
 * much as a hostile page wants: call it in a thread only.
 */
export function htmlToMarkdown(html: string, url: string): ReadablePage {
  // The libraries name the types of a browser, which Node does not have and the page's own code does.
  const { document } = parseHTML(withBody(html)) as unknown as { document: PageDocument };
  removeUnseen(document);
  markLinks(document, url);
  const titles = [...document.querySelectorAll('title')];
  const title = titles[0]?.textContent?.trim() ?? '';
  for (const element of titles) element.remove();
  const whole = document.body?.innerHTML ?? '';
  const article = new Readability(document as never).parse();
  // Short pages and lists of links have no article; their text counts all the same.
  const content = isWorthMore(article?.content, whole) ? whole : (article?.content ?? whole);
  return { title: title || (article?.title ?? ''), markdown: toMarkdown(content) };
}

/** The parser does not put in what a page leaves out, and then finds no text. */
function withBody(html: string): string {
  if (/<body[\s>]/i.test(html)) return html;
  return `<html><body>${html.replace(/<\/?(?:html|head)(?:\s[^>]*)?>/gi, '')}</body></html>`;
}

/** Readability may find an article in a corner of a page that is something else. */
function isWorthMore(article: string | null | undefined, whole: string): boolean {
  return textLength(article ?? '') < Math.min(200, textLength(whole));
}

function textLength(html: string): number {
  return html.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ').length;
}

function toMarkdown(html: string): string {
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
  });
  service.use(gfm);
  return service.turndown(html);
}

/** As much of the DOM as is used here; the compiler’s own DOM would be there for all of Parley. */
interface PageNode {
  readonly nodeType: number;
  readonly textContent: string | null;
  readonly childNodes: Iterable<PageNode>;
  readonly parentNode: PageNode | null;
  removeChild(child: PageNode): unknown;
}

/** An element of a page. */
interface PageElement extends PageNode {
  readonly innerHTML: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
  replaceWith(node: PageNode): void;
}

/** A page as it was parsed. */
interface PageDocument extends PageNode {
  readonly body: PageElement | null;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
  createTextNode(text: string): PageNode;
}

/**
 * Makes links whole, so that they can be followed, and drops those that are no pages; pictures become
 * what they are said to show. `address` is where the page was found.
 */
function markLinks(document: PageDocument, address: string): void {
  const base = URL.parse(document.querySelector('base[href]')?.getAttribute('href') ?? '', address);
  for (const link of [...document.querySelectorAll('a[href]')]) {
    const target = URL.parse(link.getAttribute('href') ?? '', base?.href ?? address);
    if (target !== null && /^(?:https?|mailto):$/.test(target.protocol)) {
      link.setAttribute('href', target.href);
    } else link.removeAttribute('href');
    // Titles show only under a pointer.
    link.removeAttribute('title');
  }
  for (const picture of [...document.querySelectorAll('img, picture')]) {
    const shown = picture.getAttribute('alt')?.trim() ?? '';
    if (shown === '') picture.remove();
    else picture.replaceWith(document.createTextNode(`(picture: ${shown})`));
  }
}

/** Elements that are no text of the page, or not shown. */
const NEVER_SHOWN =
  'script, style, noscript, template, iframe, frame, object, embed, applet, svg, canvas, math annotation, audio, video, dialog:not([open]), input, select, textarea, button, [hidden], [aria-hidden="true"]';

/** The styles that hide an element; text for models is often put there. */
const HIDING =
  /display:none|visibility:(?:hidden|collapse)|opacity:0(?:\.0+)?(?:;|!|$)|font-size:0|(?:^|;)(?:max-)?(?:width|height):[01](?:px)?(?:;|!|$)|text-indent:-\d{3,}|(?:left|top|right|bottom):-\d{3,}|clip:rect\(|clip-path:inset\((?:50|100)%|color:transparent|transform:scale\(0\)/;

const COMMENT_NODE = 8;

/**
 * Takes out of a page what a person does not see: scripts, hidden elements, comments. Only what the
 * page says of an element in the element itself; style sheets are not read.
 */
function removeUnseen(document: PageDocument): void {
  for (const element of [...document.querySelectorAll(NEVER_SHOWN)]) element.remove();
  for (const element of [...document.querySelectorAll('[style]')]) {
    const style = (element.getAttribute('style') ?? '').toLowerCase().replace(/\s+/g, '');
    if (HIDING.test(style)) element.remove();
  }
  removeComments(document);
}

function removeComments(document: PageDocument): void {
  const waiting: PageNode[] = [document];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.nodeType === COMMENT_NODE) node.parentNode?.removeChild(node);
    else waiting.push(...node.childNodes);
  }
}
