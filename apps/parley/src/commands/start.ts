import { type Checkpoint, systemTime } from '@parley/core';
import { createPairingScreen, formatBanner } from '../banner.ts';
import { type DataFolder, restrictFileMode } from '../data-folder.ts';
import type { StartOptions } from '../process-options.ts';
import { startParley } from '../start-parley.ts';

/**
 * The time (ms) after which the process exits even if shutdown has not finished. Supervisors kill
 * the process after 10 s (D11).
 */
const EXIT_WITHIN_MS = 9_500;
/**
 * Signals received within this time (ms) count as one. A terminal sends Ctrl-C to both the launcher
 * and this process, and the launcher forwards it as well.
 */
const SAME_KEYSTROKE_MS = 1_000;

/** `parley start`, `gateway` or `worker`: runs until a signal arrives, then exits the process. */
export async function runStart(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  checkpoint: Checkpoint,
  how: Pick<StartOptions, 'role' | 'port' | 'channels'> = {},
): Promise<never> {
  // The handler is registered first, so that a signal during startup also causes an orderly
  // shutdown.
  const signal = waitForSignal();
  restrictFileMode();
  const options = { folder, env, ...systemTime, checkpoint, endsWhenStill: true, ...how };
  let ending = await runUntilExit(signal, options);
  while (ending.kind === 'restart') {
    process.stdout.write('Parley starts again.\n\n');
    ending = await runUntilExit(signal, options);
  }
  const message =
    ending.kind === 'stop'
      ? 'Parley has stopped. Nothing was lost.'
      : `Parley ${ending.version} has upgraded the database, so this older version has stopped. Nothing was lost. Start the newer version here, too.`;
  await new Promise<void>((written) => {
    process.stdout.write(`${message}\n`, () => written());
  });
  // All resources are closed at this point. Libraries such as Baileys leave timers behind, which
  // run for up to a minute.
  process.exit(ending.kind === 'stop' ? 0 : 1);
}

/**
 * The reason why Parley exits: a request to stop or restart, or a newer version that has changed
 * the database.
 */
type ExitReason =
  | { readonly kind: 'stop' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'outdated'; readonly version: string };

async function runUntilExit(signal: Promise<void>, options: StartOptions): Promise<ExitReason> {
  const screen = createPairingScreen(process.stdout);
  const onState = screen.note.bind(screen);
  const { promise: over, resolve: end } = Promise.withResolvers<ExitReason>();
  void signal.then(() => end({ kind: 'stop' }));
  const parley = await startParley({
    ...options,
    onState,
    onRestart: () => end({ kind: 'restart' }),
    onStop: () => end({ kind: 'stop' }),
    onOutdated: (version) => end({ kind: 'outdated', version }),
  });
  const shown = parley.banner().then((facts) => {
    process.stdout.write(formatBanner(facts, process.stdout.isTTY));
    return screen.open();
  });
  await Promise.race([shown, over]);
  const ending = await over;
  const deadline = setTimeout(() => {
    process.stderr.write(
      'Parley could not shut everything down in time. Unfinished work continues at the next start.\n',
    );
    process.exit(1);
  }, EXIT_WITHIN_MS);
  await parley.close();
  clearTimeout(deadline);
  return ending;
}

/** Resolves with the first stop signal. A second, later signal exits immediately. */
function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | null = null;
    const onSignal = (): void => {
      const now = systemTime.monotonic();
      if (first === null) {
        first = now;
        resolve();
      } else if (now - first > SAME_KEYSTROKE_MS) process.exit(130);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
  });
}
