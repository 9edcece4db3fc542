import type { PageDocument, PageNode } from './page-dom.ts';

/** Elements that are no text of the page, or not shown. */
const NEVER_SHOWN =
  'script, style, noscript, template, iframe, frame, object, embed, applet, svg, canvas, math annotation, audio, video, dialog:not([open]), input, select, textarea, button, [hidden], [aria-hidden="true"]';

/** What hides an element in its own style; text for models is often put there. */
const HIDING =
  /display:none|visibility:(?:hidden|collapse)|opacity:0(?:\.0+)?(?:;|!|$)|font-size:0|(?:^|;)(?:max-)?(?:width|height):[01](?:px)?(?:;|!|$)|text-indent:-\d{3,}|(?:left|top|right|bottom):-\d{3,}|clip:rect\(|clip-path:inset\((?:50|100)%|color:transparent|transform:scale\(0\)/;

const COMMENT_NODE = 8;

/**
 * Takes out of a page what a person does not see: scripts, hidden elements, comments. Only what the
 * page says of an element in the element itself; style sheets are not read.
 */
export function removeUnseen(document: PageDocument): void {
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
