import { dirname, join, normalize } from 'node:path';

/** A link or a picture of a page. */
const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g;

/** The links of a page to files of the repository, as paths from its root. */
export function linkedFiles(page: string, text: string): readonly string[] {
  return [...text.matchAll(LINK)].flatMap(([, , , url = '']) => targetOf(page, url) ?? []);
}

/**
 * A page as it is packed: links to files that are not packed become plain text, because they would
 * lead nowhere.
 */
export function packedPage(
  page: string,
  text: string,
  isPacked: (file: string) => boolean,
): string {
  return text.replaceAll(LINK, (link, _mark: string, words: string, url: string) => {
    const target = targetOf(page, url);
    return target === undefined || isPacked(target) ? link : words;
  });
}

/** The file of the repository that a link leads to; undefined for other addresses. */
function targetOf(page: string, url: string): string | undefined {
  const [path = ''] = url.split('#');
  if (path === '' || /^[a-z]+:/i.test(path)) return undefined;
  return normalize(join(dirname(page), path)).replace(/\/$/, '');
}

/**
 * A source of an example as it is packed: it imports the published module, which exists outside of
 * the repository, in place of our packages.
 */
export function packedExample(source: string): string {
  return source.replaceAll(/from '(?:@parley\/\w+|zod)'/g, "from 'parley/plugin'");
}
