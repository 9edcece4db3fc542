import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { gfm } from 'turndown-plugin-gfm';

/** A page converted to Markdown. */
export interface ReadablePage {
  readonly title: string;
  readonly markdown: string;
}

/**
 * Converts the main text of a page to Markdown, or the whole page when there is no main text. A
 * hostile page can make this function use unlimited time and memory, so it is called only in a
 * separate thread.
 */
export function htmlToMarkdown(html: string, url: string): ReadablePage {
  // The library's types refer to the DOM of a browser; only the subset declared below is used.
  const { document } = parseHTML(wrapInBody(html)) as unknown as { document: PageDocument };
  removeHiddenContent(document);
  markLinks(document, url);
  const titles = [...document.querySelectorAll('title')];
  const title = titles[0]?.textContent?.trim() ?? '';
  for (const element of titles) element.remove();
  const whole = document.body?.innerHTML ?? '';
  const article = new Readability(document as never).parse();
  // Short pages and lists of links have no article, but their text matters.
  const content = isWholePageBetter(article?.content, whole) ? whole : (article?.content ?? whole);
  return { title: title || (article?.title ?? ''), markdown: toMarkdown(content) };
}

/** Adds the elements that a page may omit; without them the parser finds no text. */
function wrapInBody(html: string): string {
  if (/<body[\s>]/i.test(html)) return html;
  return `<html><body>${html.replace(/<\/?(?:html|head)(?:\s[^>]*)?>/gi, '')}</body></html>`;
}

/** Whether the whole page should be used, because Readability picked an unrelated part of it. */
function isWholePageBetter(article: string | null | undefined, whole: string): boolean {
  return measureTextLength(article ?? '') < Math.min(200, measureTextLength(whole));
}

function measureTextLength(html: string): number {
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

/** The compiler’s own DOM library would apply to all of Parley’s code. */
interface PageNode {
  readonly nodeType: number;
  readonly textContent: string | null;
  readonly childNodes: Iterable<PageNode>;
  readonly parentNode: PageNode | null;
  removeChild(child: PageNode): unknown;
}

interface PageElement extends PageNode {
  readonly innerHTML: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
  replaceWith(node: PageNode): void;
}

interface PageDocument extends PageNode {
  readonly body: PageElement | null;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
  createTextNode(text: string): PageNode;
}

/**
 * Makes links absolute so that they can be followed, removes those that do not lead to pages, and
 * replaces pictures with their descriptions. `address` is the URL of the page.
 */
function markLinks(document: PageDocument, address: string): void {
  const base = URL.parse(document.querySelector('base[href]')?.getAttribute('href') ?? '', address);
  for (const link of [...document.querySelectorAll('a[href]')]) {
    const target = URL.parse(link.getAttribute('href') ?? '', base?.href ?? address);
    if (target !== null && /^(?:https?|mailto):$/.test(target.protocol)) {
      link.setAttribute('href', target.href);
    } else link.removeAttribute('href');
    // Titles are shown only on hover.
    link.removeAttribute('title');
  }
  for (const picture of [...document.querySelectorAll('img, picture')]) {
    const shown = picture.getAttribute('alt')?.trim() ?? '';
    if (shown === '') picture.remove();
    else picture.replaceWith(document.createTextNode(`(picture: ${shown})`));
  }
}

/** Elements that are not shown, or whose content is not part of the page's text. */
const NEVER_SHOWN =
  'script, style, noscript, template, iframe, frame, object, embed, applet, svg, canvas, math annotation, audio, video, dialog:not([open]), input, select, textarea, button, [hidden], [aria-hidden="true"]';

/** Inline styles that hide an element; hidden elements often contain instructions for models. */
const HIDING =
  /display:none|visibility:(?:hidden|collapse)|opacity:0(?:\.0+)?(?:;|!|$)|font-size:0|(?:^|;)(?:max-)?(?:width|height):[01](?:px)?(?:;|!|$)|text-indent:-\d{3,}|(?:left|top|right|bottom):-\d{3,}|clip:rect\(|clip-path:inset\((?:50|100)%|color:transparent|transform:scale\(0\)/;

const COMMENT_NODE = 8;

/**
 * Removes content that a person does not see: scripts, hidden elements, comments. Only attributes
 * and inline styles are considered, not style sheets.
 */
function removeHiddenContent(document: PageDocument): void {
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
