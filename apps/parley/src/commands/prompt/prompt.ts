import { type Logger, silentLogger, systemTime } from '@parley/core';
import type { Heartbeat } from '@parley/proactive';
import { comparePrompts } from '@parley/prompt';
import type { HeartbeatOrder, PromptRepository, StoredPrompt } from '@parley/store';
import { type ManagedFile, SOUL } from '@parley/workspace';
import { type Cli, hasDatabase, jsonText, withStore } from '../../cli.ts';
import { CliError, commandLine, type DataFolder, UsageError } from '../../data-folder.ts';
import { plugInForCommand } from '../../plug-in.ts';
import {
  type ChosenAgent,
  chosenAgent,
  type LoadedSettings,
  readSettings,
} from '../../settings.ts';
import { previewPrompt } from './preview-prompt.ts';
import { asidesText, comparisonText, listText, promptText, turnLine } from './prompt-text.ts';
import { layoutOf, type PreviewFlags, previewedTurn, previewRequest } from './request.ts';

/** The options of `parley prompt`; commander checks which can be combined. */
export interface PromptFlags extends Omit<PreviewFlags, 'user'> {
  readonly person?: string;
  readonly list?: boolean;
  readonly turn?: string;
  readonly message?: string;
  readonly last?: boolean;
  readonly diff?: true | readonly string[];
  readonly layout?: string;
  readonly limit: number;
  readonly full?: boolean;
  readonly json?: boolean;
}

/**
 * `parley prompt` (P17): shows the prompt of a past turn or a preview. Works with or without a
 * running gateway.
 */
export async function prompt(cli: Cli, flags: PromptFlags): Promise<number> {
  const { folder, env, print } = cli;
  const { list, turn, message, last, diff } = flags;
  const isPast = [list, turn, message, last, diff].some((flag) => flag !== undefined);
  const loaded = readSettings(folder, env);
  if (!isPast) {
    print(await previewText(cli, flags, loaded));
    return 0;
  }
  if (Array.isArray(diff) && diff.length !== 2) {
    throw new UsageError('--diff takes the ids of two turns, or none for the last two of a chat.');
  }
  if (!hasDatabase(folder, loaded)) throw nothingYet(folder);
  print(await withStore(cli, ({ prompts }) => recordedText(flags, { prompts, folder })));
  return 0;
}

async function previewText(
  { folder, env, agent: asked }: Cli,
  flags: PromptFlags,
  first: LoadedSettings,
): Promise<string> {
  const request = previewRequest({ ...flags, user: flags.person });
  const { layout, full = false, json } = flags;
  const faults: string[] = [];
  const deps = { ...systemTime, log: faultsInto(faults), folder, env };
  const plugged = await plugInForCommand(first, deps, deps.log);
  const chosen = chosenAgent(plugged.loaded, asked);
  const { settings } = chosen;
  const channels = plugged.definitions.map(({ id }) => id);
  const agent =
    layout === undefined ? settings.agent : { ...settings.agent, layout: layoutOf(layout) };
  const { turn, change } = await previewedTurn(request, {
    channels,
    agent: agent.id,
    name: chosen.name,
    heartbeat: (choose) => nextRun({ folder, env }, { loaded: first, chosen }, choose),
    now: systemTime.clock(),
  });
  const { prompt, fromTemplates } = await previewPrompt({ ...settings, agent }, turn, change, {
    ...deps,
    plugins: plugged.agent,
    name: chosen.name,
    soul: await soulInUse({ folder, env }, plugged.loaded, agent.id),
  });
  plugged.end();
  if (json) return jsonText({ ...prompt, fromTemplates });
  const { message, mode, heartbeat } = request;
  const place = [message.channel, message.chatType, mode, heartbeat ? 'heartbeat' : undefined];
  return [
    ...(fromTemplates
      ? [`There is no workspace at ${agent.workspace} yet: these are the contents of a new one.\n`]
      : []),
    `preview · ${place.filter((word) => word !== undefined).join(' ')}`,
    promptText(prompt, { full }),
    ...(faults.length === 0 ? [] : ['\nwhile it was made', ...faults]),
  ].join('\n');
}

interface Recorded {
  readonly prompts: PromptRepository;
  readonly folder: DataFolder;
}

async function recordedText(flags: PromptFlags, recorded: Recorded): Promise<string> {
  const { list, turn, message, diff, chat, limit } = flags;
  if (list) {
    const found = await recorded.prompts.list({ chat, limit });
    if (flags.json) return jsonText(found);
    if (found.length === 0) throw nothingYet(recorded.folder, chat);
    return listText(found);
  }
  if (diff !== undefined) {
    const turns = diff === true ? [] : diff;
    const [before, after] =
      turns.length === 0
        ? (await newestPrompts(recorded, 2, chat)).toReversed()
        : await Promise.all(turns.map((turnId) => promptOfTurn(recorded, turnId)));
    return before === undefined || after === undefined ? '' : comparedText(before, after, flags);
  }
  if (turn !== undefined) return storedText(await promptOfTurn(recorded, turn), flags);
  if (message !== undefined) {
    return storedText(await promptOfMessage(recorded, message, chat), flags);
  }
  const [newest] = await newestPrompts(recorded, 1, chat);
  return newest === undefined ? '' : storedText(newest, flags);
}

type PromptFormat = Pick<PromptFlags, 'full' | 'json'>;

function storedText(prompt: StoredPrompt, { full = false, json }: PromptFormat): string {
  if (json) return jsonText(prompt);
  const asides = asidesText(prompt.asides, { full });
  return `${turnLine(prompt)}\n${promptText(prompt, { full })}${asides}`;
}

function comparedText(before: StoredPrompt, after: StoredPrompt, shown: PromptFormat): string {
  const comparison = comparePrompts(before, after);
  if (shown.json) return jsonText(comparison);
  const text = comparisonText(comparison, { full: shown.full === true });
  return `${turnLine(before)}\n${turnLine(after)}\n${text}`;
}

/** A log that collects the errors a real turn would log. */
function faultsInto(faults: string[]): Logger {
  const note = (facts: object, message: string): void => {
    faults.push(`  ${message} ${JSON.stringify(facts)}`);
  };
  const log: Logger = { ...silentLogger, warn: note, error: note, child: () => log };
  return log;
}

/** The prompt of a turn. Throws CliError that says how to find a turn's id. */
async function promptOfTurn({ prompts, folder }: Recorded, turnId: string): Promise<StoredPrompt> {
  const found = await prompts.ofTurn(turnId);
  if (found !== null) return found;
  throw new CliError(
    'prompt-turn',
    `The prompt of turn "${turnId}" is not kept. "${commandLine('prompt --list', folder)}" lists the kept ones; older prompts are deleted after inspector.keepDays.`,
  );
}

/**
 * The prompt of the turn that answered a message. Throws CliError if there is none, or if several
 * chats have one.
 */
async function promptOfMessage(
  recorded: Recorded,
  messageId: string,
  chat: string | undefined,
): Promise<StoredPrompt> {
  const found = await recorded.prompts.list({ messageId, chat, limit: 20 });
  const [newest, another] = found;
  if (newest === undefined) {
    throw new CliError(
      'prompt-message',
      `No kept prompt belongs to the message "${messageId}". "/why" in the chat explains what happened to a message; "${commandLine('prompt --list', recorded.folder)}" lists the kept prompts.`,
    );
  }
  if (another !== undefined) {
    const chats = found.map(({ conversationId }) => conversationId).join(', ');
    throw new CliError(
      'prompt-message',
      `Several turns answered a message "${messageId}": ${chats}. Add --chat with one of these.`,
    );
  }
  return promptOfTurn(recorded, newest.turnId);
}

/**
 * The newest prompts, optionally of one chat, newest first. Throws CliError if there are too few.
 */
async function newestPrompts(
  recorded: Recorded,
  count: number,
  chat: string | undefined,
): Promise<readonly StoredPrompt[]> {
  const { prompts, folder } = recorded;
  const [newest] = await prompts.list({ chat, limit: 1 });
  if (newest === undefined) throw nothingYet(folder, chat);
  const found = await prompts.list({ chat: newest.conversationId, limit: count });
  if (found.length < count) {
    throw new CliError(
      'prompt-few',
      `The chat ${newest.conversationId} has only one turn whose prompt is kept. Write to it again, or name two turns.`,
    );
  }
  return Promise.all(found.map(({ turnId }) => promptOfTurn(recorded, turnId)));
}

function nothingYet(folder: DataFolder, chat?: string): CliError {
  const where = chat === undefined ? '' : ` in the chat "${chat}"`;
  return new CliError(
    'prompt-none',
    `No prompt has been recorded${where} yet. Write to the agent first, or look at a preview: "${commandLine('prompt --channel web', folder)}".`,
  );
}

/** The next heartbeat run; null before the first start. */
async function nextRun(
  { folder, env }: Pick<Cli, 'folder' | 'env'>,
  { loaded, chosen }: { readonly loaded: LoadedSettings; readonly chosen: ChosenAgent },
  choose: Parameters<Heartbeat['preview']>[0],
): Promise<HeartbeatOrder | null> {
  if (!hasDatabase(folder, loaded)) return null;
  const { offlineHeartbeat } = await import('../../proactive.ts');
  return withStore({ folder, env }, async (store) =>
    (await offlineHeartbeat(store, chosen)).preview(choose),
  );
}

/**
 * The version of SOUL.md in use (W06). Before the first start there is none, and the file is used.
 */
async function soulInUse(
  { folder, env }: Pick<Cli, 'folder' | 'env'>,
  loaded: LoadedSettings,
  agent: string,
): Promise<ManagedFile> {
  const applied = hasDatabase(folder, loaded)
    ? await withStore({ folder, env }, ({ souls }) => souls.applied(agent))
    : null;
  return { name: SOUL, current: async () => applied };
}
