import { proto } from '@whiskeysockets/baileys';
import { joinLines, type KindContent, shortenToLine } from './reading.ts';

/**
 * An answer from WhatsApp's assistant that a person shares: text, code, tables and formulas in
 * order.
 */
export function readRichResponse({
  submessages,
  unifiedResponse,
}: proto.IAIRichResponseMessage): KindContent {
  const shown = joinLines(...(submessages ?? []).map(renderPart));
  const hasMore = shown === '' && (submessages ?? []).length === 0 && unifiedResponse != null;
  return shown === '' || hasMore ? { unread: 'an answer of an assistant' } : { shown };
}

function renderPart(part: proto.IAIRichResponseSubMessage): string {
  const { codeMetadata, tableMetadata, latexMetadata, contentItemsMetadata } = part;
  return joinLines(
    part.messageText,
    codeMetadata && renderCode(codeMetadata),
    tableMetadata && renderTable(tableMetadata),
    latexMetadata?.text,
    (part.imageMetadata || part.gridImageMetadata) && '[Picture]',
    part.imageMetadata?.imageText,
    part.dynamicMetadata && '[Picture]',
    contentItemsMetadata && '[Videos]',
    ...(part.mapMetadata?.annotations ?? []).map(({ title, body }) => joinLines(title, body)),
  );
}

function renderCode(code: proto.IAIRichResponseCodeMetadata): string {
  const text = (code.codeBlocks ?? []).map(({ codeContent }) => codeContent ?? '').join('');
  return text === '' ? '' : `\`\`\`${shortenToLine(code.codeLanguage)}\n${text}\n\`\`\``;
}

function renderTable({ title, rows }: proto.IAIRichResponseTableMetadata): string {
  return joinLines(
    title,
    ...(rows ?? []).map(({ items }) => (items ?? []).map(shortenToLine).join(' | ')),
  );
}

/** An answer to a question in a status or a channel. */
export function readQuestionAnswer({ text }: proto.Message.IQuestionResponseMessage): KindContent {
  return text ? { typed: text } : { unread: 'an answer to a question' };
}

/** A quoted status that contains text. */
export function readQuotedStatus({ text }: proto.Message.IStatusQuotedMessage): KindContent {
  return text ? { shown: text } : { unread: 'a status' };
}

const { SecretEncType } = proto.Message.SecretEncryptedMessage;

/**
 * A change encrypted with a key from the earlier message, which a linked device may never have
 * received.
 */
export function readSecretMessage({
  secretEncType,
}: proto.Message.ISecretEncryptedMessage): KindContent {
  if (secretEncType === SecretEncType.EVENT_EDIT) return { unread: 'a change of an event' };
  if (secretEncType === SecretEncType.MESSAGE_EDIT) {
    return { unread: 'a change of an earlier message' };
  }
  return { unread: 'an encrypted change' };
}
