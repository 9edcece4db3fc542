import { type Checkpoint, systemTime } from '@parley/core';
import { banner, createPairingScreen } from '../banner.ts';
import { type DataFolder, writeForOwnerAlone } from '../data-folder.ts';
import type { StartOptions } from '../process-options.ts';
import { startParley } from '../start-parley.ts';

/** Supervisors kill after 10 s (D11); a little earlier the process ends whatever still runs by itself. */
const EXIT_WITHIN_MS = 9_500;
/** A terminal sends Ctrl-C to the launcher and to us, and the launcher passes it on as well. */
const SAME_KEYSTROKE_MS = 1_000;

/** `parley start`, `gateway` or `worker`: runs until a signal ends it, and the process with it. */
export async function start(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  checkpoint: Checkpoint,
  how: Pick<StartOptions, 'role' | 'port' | 'channels'> = {},
): Promise<never> {
  // Listened for from the beginning, so that a signal in the middle of starting ends in order, too.
  const signal = waitForSignal();
  writeForOwnerAlone();
  const options = { folder, env, ...systemTime, checkpoint, endsWhenStill: true, ...how };
  let ending = await runToItsEnd(signal, options);
  while (ending.kind === 'restart') {
    process.stdout.write('Parley starts again.\n\n');
    ending = await runToItsEnd(signal, options);
  }
  const message =
    ending.kind === 'stop'
      ? 'Parley has stopped; nothing is lost.'
      : `Parley ${ending.version} has changed the database, so this older one has stopped; nothing is lost. Start the newer one here, too.`;
  await new Promise<void>((written) => {
    process.stdout.write(`${message}\n`, () => written());
  });
  // All of ours is closed. Libraries leave timers behind, Baileys for up to a minute.
  process.exit(ending.kind === 'stop' ? 0 : 1);
}

/** Why a Parley ends: it was asked to, or to start again, or it is too old by now. */
type Ending =
  | { readonly kind: 'stop' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'outdated'; readonly version: string };

async function runToItsEnd(signal: Promise<void>, options: StartOptions): Promise<Ending> {
  const screen = createPairingScreen(process.stdout);
  const onState = screen.note.bind(screen);
  const { promise: over, resolve: end } = Promise.withResolvers<Ending>();
  void signal.then(() => end({ kind: 'stop' }));
  const parley = await startParley({
    ...options,
    onState,
    onRestart: () => end({ kind: 'restart' }),
    onStop: () => end({ kind: 'stop' }),
    onOutdated: (version) => end({ kind: 'outdated', version }),
  });
  const shown = parley.banner().then((facts) => {
    process.stdout.write(banner(facts, process.stdout.isTTY));
    return screen.open();
  });
  await Promise.race([shown, over]);
  const ending = await over;
  const deadline = setTimeout(() => {
    process.stderr.write(
      'Parley could not end everything in time; what was running goes on at the next start.\n',
    );
    process.exit(1);
  }, EXIT_WITHIN_MS);
  await parley.close();
  clearTimeout(deadline);
  return ending;
}

/** Waits for the first signal that asks to stop; a second one, later, ends the process at once. */
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
