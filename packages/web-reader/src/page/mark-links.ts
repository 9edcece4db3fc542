import type { PageDocument } from './page-dom.ts';

/**
 * Makes links whole, so that they can be followed, and drops those that are no pages; pictures become
 * what they are said to show. `address` is where the page was found.
 */
export function markLinks(document: PageDocument, address: string): void {
  const base = URL.parse(document.querySelector('base[href]')?.getAttribute('href') ?? '', address);
  for (const link of [...document.querySelectorAll('a[href]')]) {
    const target = URL.parse(link.getAttribute('href') ?? '', base?.href ?? address);
    if (target !== null && /^(?:https?|mailto):$/.test(target.protocol)) {
      link.setAttribute('href', target.href);
    } else link.removeAttribute('href');
    // Titles show only when somebody points at them.
    link.removeAttribute('title');
  }
  for (const picture of [...document.querySelectorAll('img, picture')]) {
    const shown = picture.getAttribute('alt')?.trim() ?? '';
    if (shown === '') picture.remove();
    else picture.replaceWith(document.createTextNode(`(picture: ${shown})`));
  }
}
