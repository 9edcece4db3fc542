import { existsSync } from 'node:fs';
import { openStore, type PromptRepository, type StoredPrompt } from '@parley/store';
import { CliError } from '../cli-error.ts';
import { commandLine } from '../command-line.ts';
import type { DataFolder } from '../data-folder.ts';

/** Where recorded prompts are, and how the person gets at them. */
export interface PromptPlaces {
  readonly folder: DataFolder;
  /** A database elsewhere. */
  readonly storeUrl: string | undefined;
}

/** Opens the recorded prompts, beside a running gateway or without one. Throws CliError when there are none. */
export async function withPrompts<T>(
  { folder, storeUrl }: PromptPlaces,
  work: (prompts: PromptRepository) => Promise<T>,
): Promise<T> {
  if (storeUrl === undefined && !existsSync(folder.storeUrl.replace(/^sqlite:/, ''))) {
    throw nothingYet(folder);
  }
  const store = await openStore({ url: storeUrl ?? folder.storeUrl, clock: Date.now });
  try {
    return await work(store.prompts);
  } finally {
    await store.close();
  }
}

/** The prompt of a turn. Throws CliError that says how to find the id of one. */
export async function promptOfTurn(
  prompts: PromptRepository,
  turnId: string,
  folder: DataFolder,
): Promise<StoredPrompt> {
  const found = await prompts.ofTurn(turnId);
  if (found !== null) return found;
  throw new CliError(
    'prompt-turn',
    `No prompt of a turn "${turnId}" is kept. "${commandLine('prompt --list', folder)}" shows the turns there are; older ones are dropped after inspector.keepDays.`,
  );
}

/** The prompt of the turn that answered a message. Throws CliError, also when several chats have one. */
export async function promptOfMessage(
  prompts: PromptRepository,
  messageId: string,
  chat: string | undefined,
  folder: DataFolder,
): Promise<StoredPrompt> {
  const found = await prompts.list({ messageId, chat, limit: 20 });
  const [newest, another] = found;
  if (newest === undefined) {
    throw new CliError(
      'prompt-message',
      `No kept prompt answered a message "${messageId}". "/why" in the chat says what became of a message; "${commandLine('prompt --list', folder)}" shows the turns there are.`,
    );
  }
  if (another !== undefined) {
    const chats = found.map(({ conversationId }) => conversationId).join(', ');
    throw new CliError(
      'prompt-message',
      `Several turns answered a message "${messageId}": ${chats}. Add --chat with one of these.`,
    );
  }
  return promptOfTurn(prompts, newest.turnId, folder);
}

/** The newest prompts, of one chat where given, newest first. Throws CliError when there are not so many. */
export async function newestPrompts(
  prompts: PromptRepository,
  count: number,
  chat: string | undefined,
  folder: DataFolder,
): Promise<readonly StoredPrompt[]> {
  const [newest] = await prompts.list({ chat, limit: 1 });
  if (newest === undefined) throw nothingYet(folder, chat);
  const found = await prompts.list({ chat: newest.conversationId, limit: count });
  if (found.length < count) {
    throw new CliError(
      'prompt-few',
      `The chat ${newest.conversationId} has only one turn whose prompt is kept. Write to it again, or name two turns.`,
    );
  }
  return Promise.all(found.map(({ turnId }) => promptOfTurn(prompts, turnId, folder)));
}

function nothingYet(folder: DataFolder, chat?: string): CliError {
  const where = chat === undefined ? '' : ` in the chat "${chat}"`;
  return new CliError(
    'prompt-none',
    `No prompt has been recorded${where} yet. Write to the agent first, or look at a turn that might be: "${commandLine('prompt --channel web', folder)}".`,
  );
}
