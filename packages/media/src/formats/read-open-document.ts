import {
  DAMAGED,
  type DocumentLimits,
  type DocumentText,
  documentText,
  ENCRYPTED,
  refused,
} from '../document-text.ts';
import { type Mark, xmlText } from './xml-text.ts';

const TEXT = new Set(['text:p', 'text:h']);

/** The text of an OpenDocument file (odt, ods, odp): paragraphs as lines, table rows as lines with tabs. */
export function readOpenDocument(
  members: ReadonlyMap<string, Uint8Array>,
  limits: DocumentLimits,
): DocumentText {
  const decoder = new TextDecoder();
  const read = (name: string): string => decoder.decode(members.get(name) ?? new Uint8Array());
  if (!read('mimetype').startsWith('application/vnd.oasis.opendocument.')) return refused(DAMAGED);
  if (read('META-INF/manifest.xml').includes('encryption-data')) return refused(ENCRYPTED);
  const content = read('content.xml');
  if (content === '') return refused(DAMAGED);
  return documentText(xmlText(content, { inside: TEXT }, marks()), limits);
}

function marks(): Mark {
  let cells = 0;
  return (tag, closing) => {
    if (tag === 'table:table-cell') cells += closing ? -1 : 1;
    if (!closing) return '';
    switch (tag) {
      case 'text:p':
      case 'text:h':
        return cells > 0 ? ' ' : '\n';
      case 'text:line-break':
      case 'table:table-row':
        return '\n';
      case 'text:tab':
      case 'table:table-cell':
        return '\t';
      case 'text:s':
        return ' ';
      default:
        return '';
    }
  };
}
