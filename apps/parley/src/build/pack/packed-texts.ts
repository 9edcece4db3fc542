import { dirname, join, normalize } from 'node:path';

/** A Markdown link or image. */
const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g;

/** Lists the links of a page to files in the repository, as paths from the root. */
export function listLinkedFiles(page: string, text: string): readonly string[] {
  return [...text.matchAll(LINK)].flatMap(([, , , url = '']) => resolveLinkTarget(page, url) ?? []);
}

/** Returns the page as packed: links to files that are not packed become plain text. */
export function createPackedPage(
  page: string,
  text: string,
  isPacked: (file: string) => boolean,
): string {
  return text.replaceAll(LINK, (link, _mark: string, words: string, url: string) => {
    const target = resolveLinkTarget(page, url);
    return target === undefined || isPacked(target) ? link : words;
  });
}

/** Resolves a link to a file in the repository; undefined for other addresses. */
function resolveLinkTarget(page: string, url: string): string | undefined {
  const [path = ''] = url.split('#');
  if (path === '' || /^[a-z]+:/i.test(path)) return undefined;
  return normalize(join(dirname(page), path)).replace(/\/$/, '');
}

/**
 * Returns the source of an example as packed. It imports the published module instead of Parley's
 * internal packages, which are not available outside the repository.
 */
export function createPackedExample(source: string): string {
  return source.replaceAll(/from '(?:@parley\/\w+|zod)'/g, "from 'parley/plugin'");
}
