import type { OutboundPart } from '@parley/core';
import { type SlackDouble, startSlackDouble } from '@parley/simulators/slack';
import type { CoreOverrides } from '../adapter-core.ts';
import { addCleanup, type HostedScene, startHosted } from './hosted-scene.ts';

/** The Slack adapter with its double. */
export interface SlackScene extends HostedScene {
  readonly double: SlackDouble;
  /** A person, and their direct chat. */
  readonly ann: string;
  readonly direct: string;
  /** A public channel with Ann and Bo. */
  readonly channel: string;
  readonly bo: string;
  part(text: string, more?: PartOverrides): OutboundPart;
}

export type PartOverrides = Partial<Omit<OutboundPart, 'route'>> & {
  readonly route?: Partial<OutboundPart['route']>;
};

export interface SlackSceneOptions extends CoreOverrides {
  readonly options?: object;
  readonly mode?: 'webhook' | 'socket';
}

/** Hosts the adapter and connects it. */
export async function startSlackScene({
  options,
  mode = 'webhook',
  ...wishes
}: SlackSceneOptions = {}): Promise<SlackScene> {
  const double = await startSlackDouble({
    retries: { delaysMs: [10, 30, 100, 100], answerWithinMs: mode === 'socket' ? 500 : 3_000 },
  });
  addCleanup(() => double.close());
  const { apiUrl, botToken, signingSecret, appToken } = double;
  const secrets = mode === 'socket' ? { appToken, mode } : { signingSecret };
  const scene = await startHosted({
    ...wishes,
    id: 'slack',
    use: '@chat-adapter/slack',
    options: { apiUrl, botToken, ...secrets, ...options },
    changed: () => double.transcript.changes.changed(),
  });
  await scene.adapter.start();
  const state = () => scene.states.at(-1)?.kind;
  await double.waitFor(() => state() === 'connected' || state() === 'failed');
  if (mode === 'webhook' && state() === 'connected') await double.setRequestUrl(scene.url);
  const ann = double.addMember({ name: 'Ann' });
  const bo = double.addMember({ name: 'Bo' });
  const direct = double.directChat(ann);
  const channel = double.addChannel({ name: 'general', members: [ann, bo] });
  let next = 0;
  return {
    ...scene,
    double,
    ann,
    bo,
    direct,
    channel,
    part(text, { route, ...more } = {}) {
      next += 1;
      const { target } = scene.adapter.capabilities;
      return {
        id: `part-${next}`,
        idempotencyKey: `key-${next}`,
        turnId: null,
        index: null,
        body: { text, plain: text },
        ...more,
        route: { channel: 'slack', account: 'default', chatId: direct, target, ...route },
      };
    },
  };
}
