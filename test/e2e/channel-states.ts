import { setTimeout as sleep } from 'node:timers/promises';
import type { WhatsAppDouble } from '@parley/simulators/whatsapp';
import { z } from 'zod';
import type { TestParley } from './parley-here.ts';

const Status = z.object({
  channels: z.array(
    z.object({
      channel: z.string(),
      state: z.looseObject({ kind: z.string(), code: z.string().optional() }),
    }),
  ),
});

/** The state of a channel; `code` is the pairing code while the channel waits to be linked. */
export interface ChannelStatus {
  readonly channel: string;
  readonly kind: string;
  readonly code: string | undefined;
}

export async function fetchChannelStates({
  address,
  token,
}: Pick<TestParley, 'address' | 'token'>): Promise<ChannelStatus[]> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${address}/api/status/report`, { headers });
  const { channels } = Status.parse(await answer.json());
  return channels.map(({ channel, state: { kind, code } }) => ({ channel, kind, code }));
}

/** Waits until every channel is connected. */
export async function waitUntilConnected(parley: TestParley): Promise<void> {
  while (!(await fetchChannelStates(parley)).every(({ kind }) => kind === 'connected'))
    await sleep(25);
}

/**
 * Scans the pairing code with the phone of the simulated owner, and waits until WhatsApp is
 * connected.
 */
export async function linkWhatsApp(double: WhatsAppDouble, parley: TestParley): Promise<void> {
  let scanned: string | undefined;
  for (;;) {
    const states = await fetchChannelStates(parley);
    const { kind, code } = states.find(({ channel }) => channel === 'whatsapp') ?? {};
    if (kind === 'connected') return;
    if (code !== undefined && code !== scanned && double.state() === 'pairing') {
      scanned = code;
      double.scan(code);
    }
    await sleep(20);
  }
}
