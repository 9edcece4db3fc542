import { type Logger, silentLogger, systemTime } from '@parley/core';
import type { Heartbeat } from '@parley/proactive';
import { comparePrompts } from '@parley/prompt';
import type { HeartbeatRunRequest, PromptRepository, StoredPrompt } from '@parley/store';
import { type ManagedFile, SOUL } from '@parley/workspace';
import { type CliContext, formatJson, hasDatabase, withStore } from '../../cli.ts';
import { CliError, type DataFolder, formatCommandLine, UsageError } from '../../data-folder.ts';
import { loadPluginsForCommand } from '../../plug-in.ts';
import {
  addHostedChannels,
  type ChosenAgent,
  findChosenAgent,
  type LoadedSettings,
  readSettings,
} from '../../settings.ts';
import { previewPrompt } from './preview-prompt.ts';
import {
  formatAsides,
  formatComparison,
  formatPrompt,
  formatPromptList,
  formatTurn,
} from './prompt-text.ts';
import {
  createPreviewedTurn,
  type PreviewFlags,
  parseLayout,
  parsePreviewRequest,
} from './request.ts';

/** Commander checks which options can be combined. */
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
 * `parley prompt` (P17): shows the prompt of a past turn, or a preview. The command works with or
 * without a running gateway.
 */
export async function runPrompt(cli: CliContext, flags: PromptFlags): Promise<number> {
  const { folder, env, print } = cli;
  const { list, turn, message, last, diff } = flags;
  const isPast = [list, turn, message, last, diff].some((flag) => flag !== undefined);
  const loaded = readSettings(folder, env);
  if (!isPast) {
    print(await formatPreview(cli, flags, loaded));
    return 0;
  }
  if (Array.isArray(diff) && diff.length !== 2) {
    throw new UsageError(
      '--diff takes the ids of two turns, or no ids to compare the last two turns of a chat.',
    );
  }
  if (!hasDatabase(folder, loaded)) throw createNoPromptsError(folder);
  print(await withStore(cli, ({ prompts }) => formatRecordedPrompts(flags, { prompts, folder })));
  return 0;
}

async function formatPreview(
  { folder, env, agent: asked }: CliContext,
  flags: PromptFlags,
  first: LoadedSettings,
): Promise<string> {
  const request = parsePreviewRequest({ ...flags, user: flags.person });
  const { layout, full = false, json } = flags;
  const faults: string[] = [];
  const deps = { ...systemTime, log: createFaultLogger(faults), folder, env };
  const plugged = await loadPluginsForCommand(first, deps, deps.log);
  const chosen = findChosenAgent(plugged.loaded, asked);
  const { settings } = chosen;
  const channels = addHostedChannels(plugged.definitions, plugged.loaded).map(({ id }) => id);
  const agent =
    layout === undefined ? settings.agent : { ...settings.agent, layout: parseLayout(layout) };
  const { turn, change } = await createPreviewedTurn(request, {
    channels,
    agent: agent.id,
    name: chosen.name,
    heartbeat: (choose) => findNextRun({ folder, env }, { loaded: first, chosen }, choose),
    now: systemTime.clock(),
  });
  const { prompt, fromTemplates } = await previewPrompt({ ...settings, agent }, turn, change, {
    ...deps,
    plugins: plugged.agent,
    name: chosen.name,
    soul: await findCurrentSoul({ folder, env }, plugged.loaded, agent.id),
  });
  plugged.end();
  if (json) return formatJson({ ...prompt, fromTemplates });
  const { message, mode, heartbeat } = request;
  const place = [message.channel, message.chatType, mode, heartbeat ? 'heartbeat' : undefined];
  return [
    ...(fromTemplates
      ? [
          `There is no workspace at ${agent.workspace} yet, so this shows the contents of a new one.\n`,
        ]
      : []),
    `preview · ${place.filter((word) => word !== undefined).join(' ')}`,
    formatPrompt(prompt, { full }),
    ...(faults.length === 0 ? [] : ['\nwhile the prompt was built', ...faults]),
  ].join('\n');
}

interface RecordedPrompts {
  readonly prompts: PromptRepository;
  readonly folder: DataFolder;
}

async function formatRecordedPrompts(
  flags: PromptFlags,
  recorded: RecordedPrompts,
): Promise<string> {
  const { list, turn, message, diff, chat, limit } = flags;
  if (list) {
    const found = await recorded.prompts.list({ chat, limit });
    if (flags.json) return formatJson(found);
    if (found.length === 0) throw createNoPromptsError(recorded.folder, chat);
    return formatPromptList(found);
  }
  if (diff !== undefined) {
    const turns = diff === true ? [] : diff;
    const [before, after] =
      turns.length === 0
        ? (await listNewestPrompts(recorded, 2, chat)).toReversed()
        : await Promise.all(turns.map((turnId) => findPromptOfTurn(recorded, turnId)));
    return before === undefined || after === undefined
      ? ''
      : formatPromptComparison(before, after, flags);
  }
  if (turn !== undefined) return formatStoredPrompt(await findPromptOfTurn(recorded, turn), flags);
  if (message !== undefined) {
    return formatStoredPrompt(await findPromptOfMessage(recorded, message, chat), flags);
  }
  const [newest] = await listNewestPrompts(recorded, 1, chat);
  return newest === undefined ? '' : formatStoredPrompt(newest, flags);
}

type PromptFormat = Pick<PromptFlags, 'full' | 'json'>;

function formatStoredPrompt(prompt: StoredPrompt, { full = false, json }: PromptFormat): string {
  if (json) return formatJson(prompt);
  const asides = formatAsides(prompt.asides, { full });
  return `${formatTurn(prompt)}\n${formatPrompt(prompt, { full })}${asides}`;
}

function formatPromptComparison(
  before: StoredPrompt,
  after: StoredPrompt,
  shown: PromptFormat,
): string {
  const comparison = comparePrompts(before, after);
  if (shown.json) return formatJson(comparison);
  const text = formatComparison(comparison, { full: shown.full === true });
  return `${formatTurn(before)}\n${formatTurn(after)}\n${text}`;
}

/** Creates a log that collects the errors that a real turn would log. */
function createFaultLogger(faults: string[]): Logger {
  const note = (facts: object, message: string): void => {
    faults.push(`  ${message} ${JSON.stringify(facts)}`);
  };
  const log: Logger = { ...silentLogger, warn: note, error: note, child: () => log };
  return log;
}

/**
 * Finds the recorded prompt of a turn. If there is none, throws CliError with advice for finding a
 * turn's id.
 */
async function findPromptOfTurn(
  { prompts, folder }: RecordedPrompts,
  turnId: string,
): Promise<StoredPrompt> {
  const found = await prompts.ofTurn(turnId);
  if (found !== null) return found;
  throw new CliError(
    'prompt-turn',
    `The prompt of turn "${turnId}" is not stored. "${formatCommandLine('prompt --list', folder)}" lists the stored prompts; older ones are deleted after inspector.keepDays.`,
  );
}

/**
 * Finds the recorded prompt of the turn that answered a message. Throws CliError if no turn
 * answered the message, or if turns in more than one chat did.
 */
async function findPromptOfMessage(
  recorded: RecordedPrompts,
  messageId: string,
  chat: string | undefined,
): Promise<StoredPrompt> {
  const found = await recorded.prompts.list({ messageId, chat, limit: 20 });
  const [newest, another] = found;
  if (newest === undefined) {
    throw new CliError(
      'prompt-message',
      `No stored prompt belongs to the message "${messageId}". "/why" in the chat explains what happened to a message; "${formatCommandLine('prompt --list', recorded.folder)}" lists the stored prompts.`,
    );
  }
  if (another !== undefined) {
    const chats = found.map(({ conversationId }) => conversationId).join(', ');
    throw new CliError(
      'prompt-message',
      `Several turns answered a message "${messageId}": ${chats}. Add --chat with one of these chats.`,
    );
  }
  return findPromptOfTurn(recorded, newest.turnId);
}

/**
 * Returns the most recent recorded prompts, newest first, optionally only from one chat. Throws
 * CliError if too few prompts are recorded.
 */
async function listNewestPrompts(
  recorded: RecordedPrompts,
  count: number,
  chat: string | undefined,
): Promise<readonly StoredPrompt[]> {
  const { prompts, folder } = recorded;
  const [newest] = await prompts.list({ chat, limit: 1 });
  if (newest === undefined) throw createNoPromptsError(folder, chat);
  const found = await prompts.list({ chat: newest.conversationId, limit: count });
  if (found.length < count) {
    throw new CliError(
      'prompt-few',
      `The chat ${newest.conversationId} has only one turn with a stored prompt. Write to the chat again, or name two turns.`,
    );
  }
  return Promise.all(found.map(({ turnId }) => findPromptOfTurn(recorded, turnId)));
}

function createNoPromptsError(folder: DataFolder, chat?: string): CliError {
  const where = chat === undefined ? '' : ` in the chat "${chat}"`;
  return new CliError(
    'prompt-none',
    `No prompt has been recorded${where} yet. Write to the agent first, or look at a preview: "${formatCommandLine('prompt --channel web', folder)}".`,
  );
}

/** Finds the next heartbeat run; null before the first start. */
async function findNextRun(
  { folder, env }: Pick<CliContext, 'folder' | 'env'>,
  { loaded, chosen }: { readonly loaded: LoadedSettings; readonly chosen: ChosenAgent },
  choose: Parameters<Heartbeat['preview']>[0],
): Promise<HeartbeatRunRequest | null> {
  if (!hasDatabase(folder, loaded)) return null;
  const { createOfflineHeartbeat } = await import('../../proactive.ts');
  return withStore({ folder, env }, async (store) =>
    (await createOfflineHeartbeat(store, chosen)).preview(choose),
  );
}

/**
 * Returns the SOUL.md version in use (W06). Before the first start, no version is recorded and the
 * file itself is used.
 */
export async function findCurrentSoul(
  { folder, env }: Pick<CliContext, 'folder' | 'env'>,
  loaded: LoadedSettings,
  agent: string,
): Promise<ManagedFile> {
  const applied = hasDatabase(folder, loaded)
    ? await withStore({ folder, env }, ({ souls }) => souls.applied(agent))
    : null;
  return { name: SOUL, current: async () => applied };
}
