import { getTypedText, type InboundMessage } from '@parley/core';
import type { WorkspaceFile, WorkspaceView } from '@parley/workspace';

/**
 * The maximum number of files per turn, and the maximum length of one file and of all files
 * together, in characters.
 */
const [MAX_FILES, MAX_OF_ONE, MAX_IN_ALL] = [5, 8_000, 16_000];

/**
 * Matches `@notes/plan.md`. The name needs a file extension, so that it cannot be the name of a
 * person.
 */
const MENTION =
  /(?<![\p{L}\p{N}_.@/])@((?:[\p{L}\p{N}_-][\p{L}\p{N}_.-]*\/){0,8}[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+)/gu;

/**
 * Provides the workspace files that people mention in their messages, as far as the reader may read
 * them (W02). File names that match no file remain ordinary text. Like the `read` tool, mentioning
 * a file does not give access to it.
 */
export async function readMentionedFiles(
  view: Pick<WorkspaceView, 'read'>,
  messages: readonly FileMentionMessage[],
): Promise<readonly WorkspaceFile[]> {
  const files: WorkspaceFile[] = [];
  let room = MAX_IN_ALL;
  for (const name of listMentionedFileNames(messages)) {
    const file = await view.read(name, Math.min(MAX_OF_ONE, room));
    if (file.kind === 'absent') continue;
    room -= file.cut?.shown ?? file.text.length;
    const { warning } = file;
    const doubt = warning === undefined ? '' : `\n\n[About ${name}: ${warning}]`;
    files.push({ ...file, text: `${file.text}${doubt}` });
  }
  return files;
}

type FileMentionMessage = Pick<
  InboundMessage,
  'text' | 'trigger' | 'attachments' | 'replyTo' | 'authored'
>;

/** File names in forwarded text are ignored, because the person did not write them. */
function listMentionedFileNames(messages: readonly FileMentionMessage[]): readonly string[] {
  const said = messages.map((message) =>
    message.trigger === 'cron' ? message.text : getTypedText(message),
  );
  const names = said.flatMap((text) =>
    text.includes('@') ? [...text.matchAll(MENTION)].map(([, name = '']) => name) : [],
  );
  return [...new Set(names)].slice(0, MAX_FILES);
}
