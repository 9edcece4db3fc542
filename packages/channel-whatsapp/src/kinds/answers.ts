import { proto } from '@whiskeysockets/baileys';
import { joinLines, type Reading, shortLine } from './reading.ts';

/**
 * An answer by WhatsApp's assistant that a person shares: text, code, tables and formulas in order.
 */
export function readRichResponse({
  submessages,
  unifiedResponse,
}: proto.IAIRichResponseMessage): Reading {
  const shown = joinLines(...(submessages ?? []).map(partText));
  const hasMore = shown === '' && (submessages ?? []).length === 0 && unifiedResponse != null;
  return shown === '' || hasMore ? { unread: 'an answer of an assistant' } : { shown };
}

function partText(part: proto.IAIRichResponseSubMessage): string {
  const { codeMetadata, tableMetadata, latexMetadata, contentItemsMetadata } = part;
  return joinLines(
    part.messageText,
    codeMetadata && codeText(codeMetadata),
    tableMetadata && renderTable(tableMetadata),
    latexMetadata?.text,
    (part.imageMetadata || part.gridImageMetadata) && '[Picture]',
    part.imageMetadata?.imageText,
    part.dynamicMetadata && '[Picture]',
    contentItemsMetadata && '[Videos]',
    ...(part.mapMetadata?.annotations ?? []).map(({ title, body }) => joinLines(title, body)),
  );
}

function codeText(code: proto.IAIRichResponseCodeMetadata): string {
  const text = (code.codeBlocks ?? []).map(({ codeContent }) => codeContent ?? '').join('');
  return text === '' ? '' : `\`\`\`${shortLine(code.codeLanguage)}\n${text}\n\`\`\``;
}

function renderTable({ title, rows }: proto.IAIRichResponseTableMetadata): string {
  return joinLines(
    title,
    ...(rows ?? []).map(({ items }) => (items ?? []).map(shortLine).join(' | ')),
  );
}

/** An answer to a question in a status or a channel. */
export function readQuestionAnswer({ text }: proto.Message.IQuestionResponseMessage): Reading {
  return text ? { typed: text } : { unread: 'an answer to a question' };
}

/** A quoted status with a text. */
export function readQuotedStatus({ text }: proto.Message.IStatusQuotedMessage): Reading {
  return text ? { shown: text } : { unread: 'a status' };
}

const { SecretEncType } = proto.Message.SecretEncryptedMessage;

/**
 * A change that is encrypted with a key of the earlier message, which a linked device may never
 * have had.
 */
export function readSecret({ secretEncType }: proto.Message.ISecretEncryptedMessage): Reading {
  if (secretEncType === SecretEncType.EVENT_EDIT) return { unread: 'a change of an event' };
  if (secretEncType === SecretEncType.MESSAGE_EDIT) {
    return { unread: 'a change of an earlier message' };
  }
  return { unread: 'an encrypted change' };
}
