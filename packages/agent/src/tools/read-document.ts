import type { Store } from '@parley/store';
import { z } from 'zod';
import {
  describeDocumentPart,
  formatAttachmentLabel,
  listWarningLines,
  parseDocumentId,
} from '../media/attachment-text.ts';
import type { MediaDeps } from '../media/read-attachment.ts';
import { DOCUMENTS } from './open-tools.ts';
import { defineTool, type Tool, type ToolOutcome } from './tool.ts';

export const READ_DOCUMENT = 'read_document';

export interface ReadDocumentDeps {
  readonly attachments: Pick<Store['attachments'], 'ofConversation'>;
  readonly media: Pick<MediaDeps, 'readDocument'>;
}

const USUAL_CHARACTERS = 16_000;
const MAX_CHARACTERS = 30_000;
/** The time limit for a document, in ms. The limit includes the time in the queue (G19). */
const WAIT_MS = 90_000;

/**
 * Continues reading a document that was sent in this conversation (F10), while the document is
 * kept. The text counts as written by outsiders, even if the owner sent the document.
 */
export function createReadDocumentTool({ attachments, media }: ReadDocumentDeps): Tool {
  return defineTool({
    name: READ_DOCUMENT,
    summary: 'Reads a document that was sent in this conversation, in parts.',
    hint: 'When the history or the message shows only its beginning.',
    tier: 'middleware',
    group: DOCUMENTS,
    effect: 'read',
    audience: 'everyone',
    approval: 'never',
    foreign: true,
    limits: { ms: WAIT_MS, characters: MAX_CHARACTERS },
    input: z.strictObject({
      file: z.string().max(40).describe('Its id in this conversation, such as "12-0".'),
      offset: z.int().min(0).default(0).describe('Start, in characters.'),
      length: z
        .int()
        .min(1_000)
        .max(MAX_CHARACTERS)
        .optional()
        .describe('In characters. Default: 16,000.'),
    }),
    async run({ file: id, offset, length = USUAL_CHARACTERS }, call): Promise<ToolOutcome> {
      const { facts, reader, signal } = call;
      const key = parseDocumentId(id);
      if (key === null) return createUnreadDocumentOutcome(describeMissingDocument(id));
      let label: string | null = null;
      const load = async (): Promise<Uint8Array | null> => {
        const file = await attachments.ofConversation(reader.conversationId, key);
        if (file !== null) label = formatAttachmentLabel({ kind: 'document', name: file.name });
        return file?.bytes ?? null;
      };
      const sender = JSON.stringify([facts.channel, facts.account, facts.channelUserId]);
      const part = { from: offset, characters: length };
      const read = await media.readDocument({ sender, ...part, load }, signal);
      if (read.kind === 'refused') {
        return createUnreadDocumentOutcome(
          label === null
            ? describeMissingDocument(id)
            : `The ${label} cannot be read: ${read.reason}.`,
        );
      }
      if (read.text === '') {
        return createUnreadDocumentOutcome(
          `The ${label} has ${read.length} characters; none at offset ${offset}.`,
        );
      }
      const shown = describeDocumentPart(key, { from: offset, ...read });
      return {
        text: read.text,
        note: [`The ${label}.`, ...listWarningLines(read), ...shown].join(' '),
      };
    },
  });
}

function describeMissingDocument(id: string): string {
  return `There is no document "${id}" in this conversation, or it is no longer kept: files of chats are kept for about a day. Ask for it to be sent again.`;
}

/** The note is Parley's own text, so it is not framed as untrusted. */
function createUnreadDocumentOutcome(note: string): ToolOutcome {
  return { text: '', note, failed: true };
}
