import { readFileSync } from 'node:fs';
import { diffSouls, proposeTasks } from '@parley/agent';
import { pluralize, reasonOf, silentLogger, silentMeter, systemTime } from '@parley/core';
import { createChatModel, OFFLINE_MODEL } from '@parley/models';
import { checkProposal, isParleyFormat } from '@parley/proactive';
import type { Store } from '@parley/store';
import type { Workspace } from '@parley/workspace';
import { type CliContext, withStore } from '../cli.ts';
import { CliError } from '../data-folder.ts';
import { type ChosenAgent, createSecretScrubber, findChosenAgent } from '../settings.ts';
import { openWorkspaceForCommand } from '../shared-lock.ts';
import { createSpendingRecorder } from '../soul.ts';
import { stripControlCharacters } from '../terminal/text.ts';

const FILE = 'HEARTBEAT.md';
const OWNER = { kind: 'owner', conversationId: 'heartbeat' } as const;
/** The maximum length, in characters, of a HEARTBEAT.md that the heartbeat reads in full. */
const WHOLE_FILE = 100_000;
const SHOWN_WORDS = 30;

export interface ConvertFlags {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  /** The path of a file whose text is used instead of a model's proposal. */
  readonly from?: string;
}

/**
 * `parley heartbeat convert` (H11): proposes HEARTBEAT.md in Parley's format. The owner has to
 * approve the proposal. The command works while a gateway is running, because the gateway reads the
 * file before each heartbeat. The exit code is 0 if the file was converted or does not need
 * conversion. Otherwise it is 1, and the reason is printed.
 */
export function convertHeartbeat(cli: CliContext, flags: ConvertFlags): Promise<number> {
  return withStore(cli, async (store, loaded) => {
    const chosen = findChosenAgent(loaded, cli.agent);
    const { workspace } = await openWorkspaceForCommand(chosen.settings, store);
    const before = await findTextToConvert(workspace);
    if ('done' in before) {
      cli.print(before.done);
      return 0;
    }
    const ofAll = loaded.settings.spend;
    const after = await requestProposal(cli, { store, ofAll, ...chosen }, before.text, flags.from);
    const check = checkProposal(before.text, after);
    printProposal(cli, before.text, after, check);
    if (check.refusal !== null) {
      cli.print(
        `\nThe proposal cannot be used: ${stripControlCharacters(check.refusal)}. ${FILE} is unchanged. Try again, or write the text yourself and pass it with --from FILE.`,
      );
      return 1;
    }
    if (flags.dryRun === true) return 0;
    if (flags.yes !== true && !(await confirmReplacement())) {
      cli.print(`${FILE} is unchanged.`);
      return 1;
    }
    return saveTasks(cli, workspace, before.text, after);
  });
}

async function findTextToConvert({ for: viewFor }: Workspace) {
  const file = await viewFor(OWNER).read(FILE, WHOLE_FILE);
  if (file.kind === 'absent') {
    if (file.reason === 'missing' || file.reason === 'empty') {
      return { done: `There is nothing to convert: ${FILE} does not contain any tasks.` };
    }
    throw createConvertError(
      `${FILE} cannot be read: ${file.detail ?? file.reason}. Fix it and try again.`,
    );
  }
  const { text, cut } = file;
  if (cut !== null) {
    throw createConvertError(
      `${FILE} has ${cut.total} characters, but only ${cut.shown} are read. Shorten it first.`,
    );
  }
  return isParleyFormat(text) ? { done: `${FILE} is already in Parley's format.` } : { text };
}

interface ConvertingAgent extends ChosenAgent {
  readonly store: Store;
  /** The spending limits across all agents. */
  readonly ofAll: ChosenAgent['settings']['spend'];
}

async function requestProposal(
  { folder, env, print }: CliContext,
  { store, ofAll, name, settings }: ConvertingAgent,
  text: string,
  from: string | undefined,
): Promise<string> {
  if (from !== undefined) return readProposalFile(from);
  if (createSecretScrubber(folder, env)(text) !== text) {
    throw createConvertError(
      `${FILE} contains a secret from the settings, which must not reach a model. Remove it first.`,
    );
  }
  const time = systemTime;
  const chosen = createChatModel(settings.model, {
    ...{ ...time, logger: silentLogger, settingsFile: folder.settingsFile },
    timeZone: settings.agent.timeZone,
    ...(env.OLLAMA_HOST !== undefined && { ollamaHost: env.OLLAMA_HOST }),
  });
  await chosen.why;
  const { model } = chosen;
  if (model.id === OFFLINE_MODEL) {
    throw createConvertError(
      `A model has to read ${FILE}, but no model is configured. Add one to ${folder.settingsFile} ("parley setup" helps), or pass your own text with --from FILE.`,
    );
  }
  print(
    `${stripControlCharacters(model.id)} is reading ${FILE}; this takes up to three minutes.\n`,
  );
  const named = name === undefined ? undefined : { name, ofAll };
  const spending = createSpendingRecorder(settings, {
    ...{ store, clock: time.clock, log: silentLogger, named, purpose: 'heartbeat' },
  });
  try {
    const services = { model, ...spending, ...time, meter: silentMeter };
    return await proposeTasks(services, text, new AbortController().signal);
  } catch (error) {
    throw createConvertError(
      `The model did not make a proposal: ${reasonOf(error)}. ${FILE} is unchanged.`,
      error,
    );
  }
}

function readProposalFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw createConvertError(`${path} cannot be read (${reasonOf(error)}). Check the path.`, error);
  }
}

function printProposal(
  { print }: CliContext,
  before: string,
  after: string,
  { tasks, problems, lost }: ReturnType<typeof checkProposal>,
): void {
  print(stripControlCharactersByLine(diffSouls(before.trimEnd(), after.trimEnd())));
  print(`\nIt makes ${pluralize(tasks.length, 'task')}:`);
  for (const { name, schedule } of tasks) print(stripControlCharacters(`  ${name}  ${schedule}`));
  for (const problem of problems) print(stripControlCharacters(`  ${problem}`));
  if (lost.length === 0) return;
  const more = lost.length > SHOWN_WORDS ? ` and ${lost.length - SHOWN_WORDS} more` : '';
  print(
    stripControlCharacters(
      `Words from the previous tasks that are missing: ${lost.slice(0, SHOWN_WORDS).join(', ')}${more}`,
    ),
  );
}

function stripControlCharactersByLine(text: string): string {
  return text.split('\n').map(stripControlCharacters).join('\n');
}

/** Throws CliError if standard input is not a terminal. */
async function confirmReplacement(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw createConvertError(
      `Nothing was changed. To replace ${FILE} without being asked, add --yes.`,
    );
  }
  const { confirm } = await import('@clack/prompts');
  return (await confirm({ message: `Use this as ${FILE}?`, initialValue: false })) === true;
}

/**
 * Writes the tasks below the existing front matter, and keeps the previous version of HEARTBEAT.md.
 */
async function saveTasks(
  { print }: CliContext,
  { editor, folder }: Workspace,
  before: string,
  after: string,
): Promise<number> {
  const file = await editor.read(FILE);
  const start = file?.text.replaceAll('\r\n', '\n').indexOf(before) ?? -1;
  const head = start > 0 ? (file?.text.replaceAll('\r\n', '\n').slice(0, start) ?? '') : '';
  const change = {
    base: file?.print ?? null,
    text: `${head}${after}`,
    by: 'parley heartbeat convert',
  };
  const saved = await editor.save(FILE, change);
  if (saved.kind === 'outdated') {
    print(`${FILE} was not overwritten, because it changed in the meantime. Try again.`);
    return 1;
  }
  print(
    `${FILE} is converted. The previous version is kept in ${folder}/.parley/history and shown on the page under Files.`,
  );
  return 0;
}

function createConvertError(message: string, cause?: unknown): CliError {
  return new CliError('heartbeat-convert', message, cause);
}
