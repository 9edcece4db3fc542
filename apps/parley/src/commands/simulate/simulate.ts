import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import tls from 'node:tls';
import { decodeText, pluralize, reasonOf, systemTime } from '@parley/core';
import {
  createPlayClock,
  describeSceneDifference,
  PLATFORM_NAMES,
  type Platform,
  type PlayClock,
  playScene,
  readScene,
  recordScene,
  type Scene,
  type StartedSimulator,
  startSimulator,
  writeScene,
} from '@parley/simulators';
import { toSignInUrl } from '../../banner.ts';
import type { CliContext } from '../../cli.ts';
import { CliError, restrictFileMode } from '../../data-folder.ts';
import type { RunningParley } from '../../start-parley.ts';
import { abortOnSignal } from '../../terminal/interrupt.ts';
import { createConversationText } from './conversation-text.ts';
import { startPageServer } from './page-server.ts';
import { createPlayFolder } from './play-folder.ts';

export type SimulatedPlatform = Platform;

export interface SimulateFlags {
  readonly port: number;
  readonly record?: string;
  readonly play?: string;
  readonly offline?: boolean;
  readonly workspace?: boolean;
}

/** The platform to simulate, and the scene file if there is a scene to play. */
export interface PlayRequest {
  readonly platform: Platform;
  readonly scene?: string;
}

/** How long (ms) a platform may take to connect on a busy machine. */
const CONNECT_WITHIN_MS = 60_000;

/**
 * `parley simulate`: starts a platform on the loopback interface, a gateway with the user's own
 * settings, and a page for both. With a scene, the command plays the scene, prints the conversation
 * and all differences, and exits with 0 if there are none and 1 otherwise.
 */
export async function runSimulate(
  cli: CliContext,
  asked: PlayRequest,
  flags: SimulateFlags,
): Promise<never> {
  const code = await playPlatform(cli, asked, flags);
  // All resources are closed at this point. Libraries such as Baileys leave timers behind, which
  // run for up to a minute.
  process.exit(code);
}

async function playPlatform(
  cli: CliContext,
  asked: PlayRequest,
  flags: SimulateFlags,
): Promise<number> {
  const { platform } = asked;
  const scene = asked.scene === undefined ? undefined : readSceneFile(resolve(asked.scene));
  const clock = createPlayClock();
  await using opened = new AsyncDisposableStack();
  const simulator = await startPlatform(platform, clock);
  opened.defer(() => simulator.close());
  const made = createPlayFolder(cli, simulator, {
    ownWorkspace: flags.workspace === true,
    isOffline: flags.offline === true,
  });
  opened.defer(() => made.remove());
  const interrupt = new AbortController();
  const ended = once(interrupt.signal, 'abort');
  opened.use(abortOnSignal(interrupt));
  const parley = await startPlayGateway(cli, made.folder, { simulator, clock });
  opened.defer(() => parley.close());
  // The scene is awaited here so that the resources stay open while it is played.
  if (scene !== undefined)
    return await Promise.race([playWholeScene(cli, simulator, scene), ended.then(() => 130)]);

  const { record } = flags;
  const toFile = record === undefined ? () => {} : createAppender(resolve(record));
  const recording = recordScene(simulator, (line) => toFile(writeScene([line])));
  opened.defer(() => void recording.stop());
  const { token } = parley;
  const isTerminal = process.stdout.isTTY === true;
  const shown = (address: string) => (isTerminal ? toSignInUrl(address, token) : address);
  const console = toSignInUrl(parley.address, token);
  const page = await startPageServer({ port: flags.port, token, simulator, recording, console });
  opened.defer(() => page.close());
  const { model } = await parley.banner();
  cli.print(
    [
      '',
      `${PLATFORM_NAMES[platform]} is simulated on this machine, with your settings.`,
      '',
      `  Play      ${shown(page.address)}`,
      `  Look at   ${shown(parley.address)}   (prompts, decisions and the queue of the simulated Parley)`,
      `  Model     ${model}`,
      `  Settings  ${cli.folder.settingsFile}, only read; your channels, conversations and files are not changed`,
      `  Data      ${made.folder.path}, removed when the simulation ends`,
      ...(record === undefined ? [] : [`  Record    ${resolve(record)}`]),
      '',
      'Stop with Ctrl-C.',
      '',
    ].join('\n'),
  );
  await ended;
  return 0;
}

async function startPlatform(platform: Platform, clock: PlayClock): Promise<StartedSimulator> {
  try {
    return await startSimulator(platform, { clock });
  } catch (error) {
    if (platform !== 'whatsapp' || !isMissingModule(error)) throw error;
    throw new CliError(
      'simulate-no-baileys',
      'WhatsApp cannot be simulated, because Baileys is not installed. Run "npm install --include=optional", or use "parley simulate telegram" or "parley simulate discord".',
      error,
    );
  }
}

function isMissingModule(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}

/**
 * Starts the gateway and waits until it is connected. For WhatsApp, a simulated phone scans the
 * pairing code.
 */
async function startPlayGateway(
  { folder: own, env }: Pick<CliContext, 'folder' | 'env'>,
  folder: CliContext['folder'],
  { simulator, clock }: { readonly simulator: StartedSimulator; readonly clock: PlayClock },
): Promise<RunningParley> {
  if (simulator.certificate !== undefined) {
    const known = tls.getCACertificates('default');
    tls.setDefaultCACertificates([...known, simulator.certificate]);
  }
  const { startParley } = await import('../../start-parley.ts');
  restrictFileMode();
  const connected = Promise.withResolvers<void>();
  const parley = await startParley({
    folder,
    settingsToEdit: own.settingsFile,
    env,
    ...systemTime,
    clock: clock.now,
    monotonic: () => systemTime.monotonic() + clock.ahead(),
    checkpoint: () => {},
    onState: ({ channel, state }) => {
      if (channel !== simulator.platform) return;
      if (state.kind === 'pairing') simulator.scan?.(state.code);
      if (state.kind === 'connected') connected.resolve();
      if (state.kind === 'failed')
        connected.reject(createNotConnectedError(`${state.reason} ${state.fix}`));
    },
  });
  const late = setTimeout(
    () => connected.reject(createNotConnectedError('It took too long.')),
    CONNECT_WITHIN_MS,
  );
  try {
    await connected.promise;
    return parley;
  } catch (error) {
    await parley.close();
    throw error;
  } finally {
    clearTimeout(late);
  }
}

function createNotConnectedError(reason: string): CliError {
  return new CliError(
    'simulate-not-connected',
    `Parley did not connect to the platform: ${reason}`,
  );
}

function readSceneFile(file: string): Scene {
  if (!existsSync(file)) {
    throw new CliError(
      'simulate-scene',
      `There is no scene file ${file}. Choose a file with JSON lines; docs/simulate.md shows how to record one.`,
    );
  }
  try {
    return readScene(decodeText(readFileSync(file)).text);
  } catch (error) {
    throw new CliError('simulate-scene', `${file} cannot be played. ${reasonOf(error)}`, error);
  }
}

async function playWholeScene(
  { print }: Pick<CliContext, 'print'>,
  simulator: StartedSimulator,
  scene: Scene,
): Promise<number> {
  const lineText = createConversationText();
  const conversation = recordScene(simulator, (line) => print(lineText(line)));
  const differences = await playScene(simulator, scene);
  conversation.stop();
  const acts = scene.filter((line) => 'act' in line).length;
  print('');
  for (const one of differences) print(describeSceneDifference(one));
  const how =
    differences.length === 0
      ? 'the result matches the recording'
      : pluralize(differences.length, 'difference');
  print(`${pluralize(acts, 'act')} played: ${how}.`);
  return differences.length === 0 ? 0 : 1;
}

/** Throws CliError before the play starts if the file cannot be written. */
function createAppender(file: string): (text: string) => void {
  try {
    writeFileSync(file, '');
  } catch (error) {
    throw new CliError(
      'simulate-record',
      `The scene cannot be recorded in ${file}: ${reasonOf(error)}. Choose another file.`,
      error,
    );
  }
  return (text) => appendFileSync(file, text);
}
