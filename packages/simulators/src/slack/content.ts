import { blocksToMrkdwn, toStoredBlocks, toTextBlocks } from './blocks.ts';
import { checkBlocks, isTooLong } from './check-blocks.ts';
import { createInvalidBlocksRefusal, createRefusal, type RequestArguments } from './request.ts';
import { normalizeText } from './text.ts';
import { isRecord, type Json, toRecords, type WireBlock } from './wire.ts';
import type { Workspace } from './workspace.ts';

/** The maximum length of `text`, in characters; Slack truncates longer text. */
const MAX_TEXT = 40_000;
/** The maximum length of `markdown_text`, in characters. */
const MAX_MARKDOWN = 12_000;
/**
 * The maximum length of the text of one message, in characters. The limit for one message is not
 * documented, but `chat.update` refuses longer text (seratch/ChatGPT-in-Slack#102), and
 * `chat.postMessage` splits it.
 */
const MAX_SHOWN_TEXT = 4_000;

export interface SlackMessageContent {
  readonly text: string;
  readonly blocks: readonly WireBlock[];
  /** Whether the call contained these blocks; otherwise they were created from the text. */
  readonly hasOwnBlocks: boolean;
  /** Whether the call contained only mrkdwn text. */
  readonly isPlain?: boolean;
  readonly attachments?: readonly Json[];
  readonly metadata?: Json;
  readonly warnings: readonly string[];
}

/**
 * Reads and checks the content of a message to be sent.
 * @throws Refusal with Slack's error code
 */
export function readSlackContent(
  workspace: Workspace,
  args: RequestArguments,
): SlackMessageContent {
  const nextId = () => workspace.ids.next('b');
  const more = { ...parseAttachments(args), ...parseMetadata(args) };
  const markdown = args.text('markdown_text');
  if (markdown !== undefined) {
    if (args.text('text') !== undefined || args.has('blocks'))
      throw createRefusal('markdown_text_conflict');
    if (markdown.length > MAX_MARKDOWN) throw createRefusal('msg_too_long');
    const blocks = toStoredBlocks([{ type: 'markdown', text: markdown }], nextId);
    return { ...more, text: blocksToMrkdwn(blocks), blocks, hasOwnBlocks: false, warnings: [] };
  }
  const given = parseBlocks(args);
  const written = args.text('text') ?? '';
  if (written.trim() === '' && given === undefined && more.attachments === undefined)
    throw createRefusal('no_text');
  const text = normalizeText(written.slice(0, MAX_TEXT));
  const warnings = written.length > MAX_TEXT ? ['message_truncated'] : [];
  if (given !== undefined) {
    const blocks = toStoredBlocks(given, nextId);
    return { ...more, text: text || blocksToMrkdwn(blocks), blocks, hasOwnBlocks: true, warnings };
  }
  const blocks = text === '' ? [] : toTextBlocks(text, nextId);
  return { ...more, text, blocks, hasOwnBlocks: false, isPlain: true, warnings };
}

/**
 * Splits text of more than 4,000 characters into several messages, as Slack does without
 * documenting it (slackapi/java-slack-sdk#704). Formatting that spans two messages is lost.
 */
export function splitContent(
  { ids }: Workspace,
  content: SlackMessageContent,
): readonly [SlackMessageContent, ...SlackMessageContent[]] {
  const { text, isPlain } = content;
  if (!isPlain || text.length <= MAX_SHOWN_TEXT) return [content];
  const pieceAt = (at: number): SlackMessageContent => {
    const piece = text.slice(at, at + MAX_SHOWN_TEXT);
    return { ...content, text: piece, blocks: toTextBlocks(piece, () => ids.next('b')) };
  };
  const pieces: [SlackMessageContent, ...SlackMessageContent[]] = [pieceAt(0)];
  for (let at = MAX_SHOWN_TEXT; at < text.length; at += MAX_SHOWN_TEXT) pieces.push(pieceAt(at));
  return pieces;
}

/** Reads and validates the content for `chat.update`. */
export function readUpdateContent(
  workspace: Workspace,
  args: RequestArguments,
): SlackMessageContent {
  const isPlain = !args.has('blocks') && !args.has('markdown_text');
  if (isPlain && (args.text('text')?.length ?? 0) > MAX_SHOWN_TEXT)
    throw createRefusal('msg_too_long');
  return readSlackContent(workspace, args);
}

/** Returns the blocks of a call; undefined when the call has none. */
function parseBlocks(args: RequestArguments): readonly Json[] | undefined {
  const value = args.json('blocks', 'invalid_blocks_format');
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw createRefusal('invalid_blocks_format');
  if (value.length === 0) return undefined;
  const errors = checkBlocks(value);
  if (errors.length > 0) throw createInvalidBlocksRefusal(errors);
  if (isTooLong(value)) throw createRefusal('msg_blocks_too_long');
  return toRecords(value);
}

function parseAttachments(args: RequestArguments): { readonly attachments?: readonly Json[] } {
  const value = args.json('attachments', 'invalid_attachments');
  if (value === undefined || value === null) return {};
  if (!Array.isArray(value)) throw createRefusal('invalid_attachments');
  if (value.length > 100) throw createRefusal('too_many_attachments');
  return value.length === 0 ? {} : { attachments: toRecords(value) };
}

function parseMetadata(args: RequestArguments): { readonly metadata?: Json } {
  const value = args.json('metadata', 'invalid_metadata_format');
  if (value === undefined) return {};
  if (!isRecord(value)) throw createRefusal('invalid_metadata_format');
  if (typeof value.event_type !== 'string' || !isRecord(value.event_payload))
    throw createRefusal('invalid_metadata_schema');
  return { metadata: value };
}
