import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askModel, createModel, createProviderSettings, joinAnswerText } from './ask-model.ts';
import { type ModelDouble, startModelDouble } from './index.ts';

let first: ModelDouble;
let second: ModelDouble;

beforeEach(async () => {
  first = await startModelDouble({ reply: () => 'from the first' });
  second = await startModelDouble({
    models: ['text-embedding', 'qwen'],
    reply: () => 'from the second',
  });
});
afterEach(() => Promise.all([first.close(), second.close()]));

describe('a model with a fallback', () => {
  const settings = () => ({
    ...createProviderSettings(first),
    fallback: [createProviderSettings(second, { model: 'qwen' })],
  });

  it('[G01] answers with the next model when the first is down, and names the model that answered', async () => {
    first.fault({ kind: 'status', status: 401 });
    const events = await askModel(createModel(settings()).model);
    expect(joinAnswerText(events)).toBe('from the second');
    expect(events.at(-1)).toMatchObject({ model: 'openai-compatible/qwen' });
  });

  it('[G01] answers with the next model when the first does not respond', async () => {
    first.fault({ kind: 'hang' });
    const patience = { timeouts: { firstTokenMs: 1_500 } };
    const { model } = createModel({ ...settings(), ...patience });
    expect(joinAnswerText(await askModel(model))).toBe('from the second');
  });

  it('[G01] does not switch to the next model after the first word', async () => {
    first.fault({ kind: 'cut', afterPieces: 1 });
    await expect(askModel(createModel(settings()).model)).rejects.toMatchObject({
      code: 'model-broken-off',
    });
    expect(second.total).toBe(0);
  });

  it('says at startup which model will answer', async () => {
    const host = new URL(first.baseUrl).host;
    expect(await createModel(settings()).why).toBe(
      `openai-compatible/double at ${host}, as configured; when it fails: openai-compatible/qwen`,
    );
  });
});

describe('the automatic choice', () => {
  it('[G01] finds a local server and its chat model', async () => {
    const { model, why } = createModel('auto', [second.baseUrl]);
    const events = await askModel(model);
    expect(events.at(-1)).toMatchObject({
      text: 'from the second',
      model: 'local/qwen',
      costUsd: 0,
    });
    expect(await why).toContain('local/qwen: found at 127.0.0.1:');
    expect(second.requests[0]?.body.model).toBe('qwen');
  });

  it('[G01] answers offline with a notice when no server is running', async () => {
    await second.close();
    const { model, why } = createModel('auto', [second.baseUrl]);
    expect(joinAnswerText(await askModel(model))).toContain('no language model is connected');
    expect(await why).toMatch(/^offline: no model is configured and no local server answered/);
    second = await startModelDouble();
  });

  it('[G01] answers offline when the previous server is unavailable', async () => {
    const { model } = createModel('auto', [second.baseUrl]);
    expect(joinAnswerText(await askModel(model))).toBe('from the second');
    await second.close();
    expect(joinAnswerText(await askModel(model))).toContain('no language model is connected');
    second = await startModelDouble();
  });
});
