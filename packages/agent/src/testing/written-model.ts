import { silentLogger } from '@parley/core';
import { type ChatModel, createChatModel, ModelSettings } from '@parley/models';

/** A server, its requests as JSON, and a model that uses the server. */
export interface CannedModel {
  readonly model: ChatModel;
  readonly asked: string[];
}

/**
 * A model whose server streams these answers unchanged, a few characters at a time. The last answer
 * is repeated for all further requests.
 */
export function createCannedModel(...texts: readonly string[]): CannedModel {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    asked.push(await new Response(init?.body).text());
    const text = texts[Math.min(asked.length, texts.length) - 1] ?? '';
    const pieces = text.match(/[\s\S]{1,3}/gu) ?? [];
    const events = [
      ...pieces.map((content) => ({ delta: { content }, finish_reason: null })),
      { delta: {}, finish_reason: 'stop' },
    ].map((choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
    const headers = { 'content-type': 'text/event-stream' };
    return new Response(`${events.join('')}data: [DONE]\n\n`, { headers });
  };
  const choice = { provider: 'openai-compatible', baseUrl: 'http://model.test/v1', model: 'm' };
  const { model } = createChatModel(ModelSettings.parse(choice), {
    settingsFile: 'parley.yaml',
    clock: () => 0,
    monotonic: () => 0,
    logger: silentLogger,
    fetch,
  });
  return { model, asked };
}
