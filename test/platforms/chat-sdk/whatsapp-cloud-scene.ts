import type { OutboundPart } from '@parley/core';
import type { CoreOverrides } from '../adapter-core.ts';
import { rerouteHosts } from './doubles/reroute.ts';
import { type CloudPerson, WhatsAppCloudDouble } from './doubles/whatsapp-cloud.ts';
import { addCleanup, type HostedScene, startHosted } from './hosted-scene.ts';

/** The WhatsApp Cloud adapter with its double, and a person who has written. */
export interface CloudScene extends HostedScene {
  readonly double: WhatsAppCloudDouble;
  readonly ann: CloudPerson;
  part(text: string, more?: Partial<OutboundPart>): OutboundPart;
}

export async function startCloudScene(wishes: CoreOverrides = {}): Promise<CloudScene> {
  const double = await new WhatsAppCloudDouble().start();
  const restore = rerouteHosts({ 'lookaside.fbsbx.com': double.port });
  addCleanup(() => {
    restore();
    return double.close();
  });
  const { accessToken, appSecret, phoneNumberId, verifyToken, apiUrl } = double;
  const scene = await startHosted({
    ...wishes,
    id: 'whatsapp-cloud',
    use: '@chat-adapter/whatsapp',
    options: { accessToken, appSecret, phoneNumberId, verifyToken, apiUrl },
    changed: () => {},
  });
  await scene.adapter.start();
  await double.subscribe(scene.url);
  const ann = double.addPerson('Ann', '4915100000001');
  await double.say({ person: ann, text: 'hello' });
  const chatId = scene.received[0]?.chat.id ?? '';
  let next = 0;
  return {
    ...scene,
    double,
    ann,
    part(text, more = {}) {
      next += 1;
      return {
        id: `part-${next}`,
        idempotencyKey: `key-${next}`,
        turnId: null,
        index: null,
        body: { text, plain: text },
        route: {
          channel: 'whatsapp-cloud',
          account: 'default',
          chatId,
          target: scene.adapter.capabilities.target,
        },
        ...more,
      };
    },
  };
}
