import { formatMarkup } from './markup-text.ts';

/** A text with this beginning is a complete page. */
const WHOLE_PAGE =
  /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)?<(?:!doctype\s+html|html|head|body)\b/i;
/**
 * Matches a fragment of a page, such as a saved message, which begins and ends with an element.
 * Markdown may begin with an element as well.
 */
const PIECE =
  /^\s*<(?:p|div|table|h[1-6]|ul|ol|article|section|main|center|font|meta|title|blockquote)\b[\s\S]*<\/[a-z][a-z0-9]*>\s*$/i;
/** The length in characters above which the tree of a page may take more memory than allowed. */
const LARGEST_TREE = 600_000;

/** Whether a text is HTML. */
export function isWebPage(text: string): boolean {
  return WHOLE_PAGE.test(text.slice(0, 4_096)) || PIECE.test(text);
}

/**
 * Reads a page in the same way as the web tools: as Markdown with its title, without content that a
 * person does not see.
 */
export async function formatWebPage(html: string): Promise<string> {
  if (html.length > LARGEST_TREE) return formatMarkup(html);
  const { htmlToMarkdown } = await import('../web/html-to-markdown.ts');
  const { title, markdown } = htmlToMarkdown(html, 'about:blank');
  const text = markdown.replace(/\n{3,}/g, '\n\n').trim();
  return title === '' || text.includes(`# ${title}`) ? text : `# ${title}\n\n${text}`.trim();
}
