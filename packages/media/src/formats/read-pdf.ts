import {
  type DocumentLimits,
  type DocumentText,
  documentText,
  ENCRYPTED,
  refused,
} from '../document-text.ts';

/** Most pages that are read of one document. */
const MOST_PAGES = 300;

/** The text of a PDF page by page, no further than is wanted. Throws for a damaged one. */
export async function readPdf(bytes: Uint8Array, limits: DocumentLimits): Promise<DocumentText> {
  const { getDocumentProxy } = await import('unpdf');
  let pdf: Awaited<ReturnType<typeof getDocumentProxy>>;
  try {
    pdf = await getDocumentProxy(bytes, { verbosity: 0 });
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === 'PasswordException') return refused(ENCRYPTED);
    throw thrown;
  }
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    if (number > MOST_PAGES || length > limits.characters) break;
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = items
      .map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : ''))
      .join('');
    page.cleanup();
    length += text.length;
    pages.push(text.trim());
  }
  if (length === 0) return refused('it holds pictures of pages only, no text (a scan)');
  const note = pages.length < pdf.numPages ? `\n[${pages.length} of ${pdf.numPages} pages]` : '';
  const text = documentText(pages.join('\n\n'), limits);
  return text.kind === 'text' ? { ...text, text: text.text + note } : text;
}
