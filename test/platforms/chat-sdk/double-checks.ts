import { Actions, Button, Card, CardText } from 'chat';
import { expect } from 'vitest';
import type { ApiAnswer, ApiFault } from './doubles/api-server.ts';
import type { WebhookDeliveries } from './doubles/deliveries.ts';
import type { PlatformDouble } from './doubles/platform-double.ts';
import type { SmallHost } from './small-host.ts';

/** A question with one button. */
export const QUESTION = Card({
  children: [CardText('May I?'), Actions([Button({ id: 'yes', label: 'Approve', value: '42' })])],
});

export const TOO_MANY_REQUESTS: ApiAnswer = {
  ...{ status: 429, headers: { 'retry-after': '1' }, body: {} },
};

/** The calls to fail, and the errors that the adapter must report for two answers. */
interface ExpectedFailures {
  readonly calls: Pick<ApiFault, 'route' | 'where'>;
  readonly rateLimited: readonly [answer: ApiAnswer, error: object];
  readonly broken: readonly [status: number, error: object];
}

/** Sends four messages, of which only "lost after" takes effect. */
export async function expectFaults(
  double: PlatformDouble,
  post: (text: string) => Promise<unknown>,
  { calls, rateLimited, broken }: ExpectedFailures,
): Promise<void> {
  double.fault({ ...calls, kind: 'reset' });
  await expect(post('lost before')).rejects.toThrow();
  double.fault({ ...calls, kind: 'reset', after: true });
  await expect(post('lost after')).rejects.toThrow();
  double.fault({ ...calls, kind: 'answer', answer: rateLimited[0] });
  await expect(post('too fast')).rejects.toMatchObject(rateLimited[1]);
  double.fault({ ...calls, kind: 'answer', answer: { status: broken[0], body: {} } });
  await expect(post('broken')).rejects.toMatchObject(broken[1]);
}

/** A lost delivery is sent again, and an unacknowledged event arrives twice. */
export async function expectRedeliveries(
  double: PlatformDouble & { readonly deliveries: WebhookDeliveries },
  host: SmallHost,
  ask: (text: string) => Promise<unknown>,
): Promise<void> {
  const { deliveries } = double;
  deliveries.loseNext();
  await ask('lost once');
  deliveries.forgetAnswerOfNext();
  await ask('seen twice');
  await double.waitFor(() => deliveries.all.every(({ state }) => state === 'delivered'));
  expect(host.messages.map(({ message }) => message.text)).toEqual([
    ...['lost once', 'seen twice', 'seen twice'],
  ]);
}
