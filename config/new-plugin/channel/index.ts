import { ChannelError, callOutcome, defineChannel, definePlugin, z } from 'parley/plugin';

/** One account, as written below `channels.my-plugin` in the settings. */
const Settings = z.strictObject({ url: z.url('an address').describe('Receives the answers.') });
/** What the platform posts to `/channels/my-plugin/default/`. */
const Message = z.object({ id: z.string().min(1), from: z.string().min(1), text: z.string() });

const channel = defineChannel({
  id: 'my-plugin',
  settings: Settings,
  load: async () => (context) => ({
    capabilities: {
      target: { dialect: 'plain', maxLength: 4_000, unit: 'utf16' },
      ...{ typing: false, edit: false, delete: false, react: false, threads: false },
      ...{ idempotentSend: true, buttons: false, streaming: 'none', media: [] },
    },
    start: async () => context.report({ kind: 'connected', as: context.settings.url }),
    stop: async () => context.report({ kind: 'stopped' }),
    async send({ id, idempotencyKey, route, body }, signal) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey };
      const answer = JSON.stringify({ to: route.chatId, text: body.text });
      const request = { method: 'POST', headers, body: answer, signal };
      const { status } = await fetch(context.settings.url, request).catch((error) => {
        const kind = callOutcome({ error }) === 'not-sent' ? 'transient' : 'unknown-outcome';
        throw new ChannelError({ kind }, 'the platform did not answer', error);
      });
      if (status < 400) return { platformMessageId: id };
      const kind = status < 500 ? 'refused' : 'unknown-outcome';
      throw new ChannelError({ kind }, `the platform answered with status ${status}`);
    },
    http: {
      async fetch(request) {
        const { data } = Message.safeParse(await request.json().catch(() => null));
        if (data === undefined) return new Response('Expected id, from, text.\n', { status: 400 });
        const { id, from, text } = data;
        // Resolves once the message is stored; if it rejects, the platform should post it again.
        await context.receive({
          ...{ channel: 'my-plugin', account: context.account, messageId: id },
          ...{ chat: { id: from, type: 'direct' }, sender: { id: from, name: from, isBot: false } },
          ...{ text, authored: { text: true }, mentions: [], addressed: true, variables: {} },
          sentAt: context.clock(),
        });
        return new Response(null, { status: 202 });
      },
    },
  }),
});

export const plugin = definePlugin({ name: 'my-plugin', setup: () => ({ channels: [channel] }) });
