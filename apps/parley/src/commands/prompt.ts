import { type Logger, silentLogger } from '@parley/contracts';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { comparePrompts } from '@parley/prompt';
import type { PromptRepository, StoredPrompt } from '@parley/store';
import { type GovernedFile, SOUL } from '@parley/workspace';
import type { Surroundings } from '../agent-sources.ts';
import { type Cli, hasDatabase, jsonText, withStore } from '../cli.ts';
import { CliError, commandLine, type DataFolder } from '../data-folder.ts';
import { previewPrompt } from '../inspector/preview-prompt.ts';
import {
  besidesText,
  comparisonText,
  listText,
  promptText,
  turnLine,
} from '../inspector/prompt-text.ts';
import {
  hypotheticalTurn,
  type PromptFlags,
  type PromptRequest,
  promptRequest,
} from '../inspector/request.ts';
import { endSoon, plugIn } from '../plug-in.ts';
import { type LoadedSettings, readSettings } from '../settings.ts';

interface Shown {
  readonly full: boolean;
  readonly json: boolean;
}

/**
 * `parley prompt`: what the model was told in a past turn, or would be told in a preview (P17).
 * It works on the database and the workspace, so it does not matter whether a gateway runs.
 */
export async function prompt({ folder, env, print }: Cli, flags: PromptFlags): Promise<number> {
  const request = promptRequest(flags);
  const loaded = readSettings(folder, env);
  const shown = { full: flags.full === true, json: flags.json === true };
  if (request.kind === 'preview') {
    print(await previewText(request, loaded, { ...shown, folder, env }));
    if (loaded.settings.plugins.length > 0) endSoon();
    return 0;
  }
  if (!hasDatabase(folder, loaded)) throw nothingYet(folder);
  const text = await withStore({ folder, env }, (store) =>
    recordedText(request, store.prompts, folder, shown),
  );
  print(text);
  return 0;
}

async function previewText(
  { message, layout, mode, heartbeat }: Extract<PromptRequest, { kind: 'preview' }>,
  first: LoadedSettings,
  { full, json, folder, env }: Shown & Surroundings,
): Promise<string> {
  const faults: string[] = [];
  const deps = { clock: Date.now, log: faultsInto(faults), folder, env };
  const plugged = await plugIn(first, { ...deps, channels: CHANNEL_DEFINITIONS });
  const { settings } = plugged.loaded;
  const channels = plugged.definitions.map(({ id }) => id);
  const turn = hypotheticalTurn(message, channels, Date.now());
  const agent = layout === undefined ? settings.agent : { ...settings.agent, layout };
  const made = await previewPrompt(
    { ...settings, agent },
    turn,
    { mode, heartbeat },
    { ...deps, plugins: plugged.agent, soul: await soulInUse({ folder, env }, plugged.loaded) },
  );
  const { prompt, fromTemplates } = made;
  if (json) return jsonText({ ...prompt, fromTemplates });
  const { workspace } = settings.agent;
  const missing = `There is no workspace at ${workspace} yet: this is what a new one starts with.\n`;
  const place = [message.channel, message.chatType, mode, heartbeat ? 'heartbeat' : undefined];
  return [
    ...(fromTemplates ? [missing] : []),
    `preview · ${place.filter((word) => word !== undefined).join(' ')}`,
    promptText(prompt, { full }),
    ...(faults.length === 0 ? [] : ['\nwhile it was made', ...faults]),
  ].join('\n');
}

async function recordedText(
  request: Exclude<PromptRequest, { kind: 'preview' }>,
  prompts: PromptRepository,
  folder: DataFolder,
  shown: Shown,
): Promise<string> {
  switch (request.kind) {
    case 'list': {
      const { chat, limit } = request;
      const found = await prompts.list({ chat, limit });
      if (shown.json) return jsonText(found);
      if (found.length === 0) await newestPrompts(prompts, 1, chat, folder);
      return listText(found);
    }
    case 'turn':
      return storedText([await promptOfTurn(prompts, request.turnId, folder)], shown);
    case 'message': {
      const { messageId, chat } = request;
      return storedText([await promptOfMessage(prompts, messageId, chat, folder)], shown);
    }
    case 'last':
      return storedText(await newestPrompts(prompts, 1, request.chat, folder), shown);
    case 'compare': {
      const { turns, chat } = request;
      if (turns === null) {
        const newest = await newestPrompts(prompts, 2, chat, folder);
        return comparedText(newest.toReversed(), shown);
      }
      return comparedText(
        await Promise.all(turns.map((turnId) => promptOfTurn(prompts, turnId, folder))),
        shown,
      );
    }
  }
}

function storedText(prompts: readonly StoredPrompt[], { full, json }: Shown): string {
  return prompts
    .map((prompt) =>
      json
        ? jsonText(prompt)
        : `${turnLine(prompt)}\n${promptText(prompt, { full })}\n\n${besidesText(prompt)}`,
    )
    .join('\n');
}

function comparedText([before, after]: readonly StoredPrompt[], { full, json }: Shown): string {
  if (before === undefined || after === undefined) return '';
  const comparison = comparePrompts(before, after);
  if (json) return jsonText(comparison);
  return `${turnLine(before)}\n${turnLine(after)}\n${comparisonText(comparison, { full })}`;
}

/** What would be in the log of a real turn. */
function faultsInto(faults: string[]): Logger {
  const note = (facts: object, message: string): void => {
    faults.push(`  ${message} ${JSON.stringify(facts)}`);
  };
  const log: Logger = { ...silentLogger, warn: note, error: note, child: () => log };
  return log;
}

/** The prompt of a turn. Throws CliError that says how to find the id of one. */
async function promptOfTurn(
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
async function promptOfMessage(
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
async function newestPrompts(
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
    `No prompt has been recorded${where} yet. Write to the agent first, or look at a preview: "${commandLine('prompt --channel web', folder)}".`,
  );
}

/**
 * SOUL.md as the next turn is told it (W06): the version in use, which the file may differ from. Before
 * the first start there is none, and the file counts.
 */
async function soulInUse(
  { folder, env }: Pick<Cli, 'folder' | 'env'>,
  loaded: LoadedSettings,
): Promise<GovernedFile> {
  const applied = hasDatabase(folder, loaded)
    ? await withStore({ folder, env }, ({ souls }) => souls.applied(loaded.settings.agent.id))
    : null;
  return { name: SOUL, current: async () => applied };
}
