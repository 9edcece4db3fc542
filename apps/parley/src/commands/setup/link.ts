import { setTimeout as sleep } from 'node:timers/promises';
import { systemTime } from '@parley/core';
import { formatLinkingInstructions } from '../../banner.ts';
import { stripControlCharacters } from '../../terminal/text.ts';
import type { RunningSetup } from './installation.ts';
import { CancelledError, type Questions } from './questions.ts';

const POLL_INTERVAL_MS = 1_000;
/** How long (ms) to wait for a scan or a message; after that, the user can continue on the page. */
const TIMEOUT_MS = 10 * 60_000;
/** How long (ms) a newly saved account may take to appear. */
const APPEARS_WITHIN_MS = 15_000;

/** Shows WhatsApp's pairing code, and each new code, until the account is linked. */
export async function linkPhone(setup: RunningSetup, { log }: Questions): Promise<void> {
  if (!(await setup.state()).channels.includes('whatsapp')) return;
  let drawn = '';
  const waitsSince = systemTime.monotonic();
  await pollUntilFound(async () => {
    const accounts = await setup.accounts();
    const states = accounts.flatMap(({ channel, state }) =>
      channel === 'whatsapp' ? [state] : [],
    );
    const open = states.find(({ kind }) => kind === 'pairing');
    if (open?.kind === 'pairing' && open.code !== drawn) {
      drawn = open.code;
      process.stdout.write(`\n${await formatLinkingInstructions('WhatsApp', open)}\n`);
    }
    const failed = states.find(({ kind }) => kind === 'failed');
    if (failed?.kind === 'failed') log.error(`${failed.reason}\n${failed.fix}`);
    const isThere = states.length > 0 || systemTime.monotonic() - waitsSince > APPEARS_WITHIN_MS;
    const isMoving = states.some(({ kind }) => ['pairing', 'starting', 'retrying'].includes(kind));
    return isThere && !isMoving ? true : undefined;
  });
  if (drawn !== '') log.success('WhatsApp is linked.');
}

/**
 * Waits until a person writes to the bot, and asks whether that person is the user at this
 * terminal.
 */
export async function linkOwner(setup: RunningSetup, ui: Questions): Promise<void> {
  const refused = new Set<string>();
  for (;;) {
    ui.log.step('Write anything to your bot from your own account. Press Ctrl-C to do this later.');
    const waiting = await pollUntilFound(async () => {
      const found = (await setup.state()).waiting.filter(({ person }) => !refused.has(person));
      return found.length > 0 ? found : undefined;
    });
    if (waiting === undefined)
      return ui.log.warn('No one has written. You can continue on the page.');
    const chosen = await ui.choose('Is that you? Owners can do everything.', [
      ...waiting.map(({ person, name, channel }) => ({
        value: person,
        label: `Yes, that's me: ${stripControlCharacters(name)} on ${channel} (${stripControlCharacters(person)})`,
      })),
      { value: 'nobody', label: 'No, keep waiting' },
    ]);
    if (chosen !== 'nobody') return ui.show(await setup.addOwner(chosen));
    for (const { person } of waiting) refused.add(person);
  }
}

/**
 * Polls until a value is found; returns undefined after the timeout. Throws `Cancelled` on Ctrl-C.
 */
async function pollUntilFound<Found>(
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  process.on('SIGINT', end);
  try {
    const deadline = systemTime.monotonic() + TIMEOUT_MS;
    while (systemTime.monotonic() < deadline) {
      const found = await look();
      if (ended.signal.aborted) throw new CancelledError();
      if (found !== undefined) return found;
      await sleep(POLL_INTERVAL_MS, undefined, { signal: ended.signal }).catch(() => undefined);
    }
    return undefined;
  } finally {
    process.off('SIGINT', end);
  }
}
