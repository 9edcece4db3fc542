import type { ChannelAdapter, ChannelContext } from '@parley/plugins';
import { z } from 'zod';

const Notice = z.strictObject({
  id: z.string().min(1).max(64),
  from: z.string().min(1).max(64),
  text: z.string().min(1),
});

/** `POST` pins a notice; `GET` shows the agent's answers since the process started. */
export function openBoard(context: ChannelContext<unknown>, title: string): ChannelAdapter {
  const { account, clock, receive, report } = context;
  const pinned: string[] = [];

  async function pin(request: Request): Promise<Response> {
    const { success, data } = Notice.safeParse(await request.json().catch(() => null));
    if (!success) return new Response('A notice has an id, from and text.\n', { status: 400 });
    const { id, from, text } = data;
    // Resolves once the message is stored; only then is the notice confirmed.
    await receive({
      channel: 'board',
      account,
      messageId: id,
      chat: { id: from, type: 'direct' },
      sender: { id: from, name: from, isBot: false },
      text,
      mentions: [],
      addressed: true,
      sentAt: clock(),
      variables: {},
    });
    return new Response('Pinned.\n', { status: 202 });
  }

  return {
    capabilities: {
      target: { dialect: 'plain', maxLength: 4_000, unit: 'utf16' },
      idempotentSend: false,
      typing: false,
      edit: false,
      delete: false,
      react: false,
      threads: false,
      buttons: false,
      streaming: 'none',
      media: [],
    },
    start: async () => report({ kind: 'connected', as: title }),
    stop: async () => report({ kind: 'stopped' }),
    async send({ id, route, body }) {
      pinned.push(`${route.chatId}: ${body.plain}`);
      return { platformMessageId: id };
    },
    http: {
      fetch: async (request) =>
        request.method === 'POST'
          ? pin(request)
          : new Response(`${[title, ...pinned].join('\n')}\n`),
    },
  };
}
