import { systemTime } from '@parley/core';
import { listConfiguredModels, probeProvider } from '@parley/models/probe';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startModelDouble } from './index.ts';

async function openDouble(options: Parameters<typeof startModelDouble>[0] = {}) {
  const double = await startModelDouble(options);
  onTestFinished(() => double.close());
  const choice = {
    provider: 'openai-compatible',
    baseUrl: double.baseUrl,
    model: 'double',
  } as const;
  return { double, choice };
}

const probe = (choice: Parameters<typeof probeProvider>[0], ms = 5_000) =>
  probeProvider(choice, {
    signal: AbortSignal.timeout(ms),
    clock: Date.now,
    monotonic: systemTime.monotonic,
  });

describe('a probe of a model', () => {
  it("[U02] asks for a word and lists the server's models", async () => {
    const { double, choice } = await openDouble({ models: ['double', 'other'] });
    const found = await probe({ ...choice, baseUrl: `${double.baseUrl}/` });
    expect(found).toMatchObject({
      kind: 'works',
      id: 'openai-compatible/double',
      server: new URL(double.baseUrl).host,
      models: ['double', 'other'],
      time: { date: expect.stringContaining('GMT') },
    });
    expect(double.requests).toHaveLength(1);
    expect(double.requests[0]?.body.max_tokens).toBe(16);
  });

  it('[U02] accepts a model that spends its few tokens on thinking', async () => {
    const { double, choice } = await openDouble();
    double.fault({ kind: 'no-text' });
    expect(await probe(choice)).toMatchObject({ kind: 'works' });
  });

  it.each([
    ['a wrong key', { kind: 'status', status: 401 }, 'refused the key', 'apiKey'],
    [
      'a model that is not there',
      { kind: 'status', status: 404 },
      'does not have the model',
      'baseUrl',
    ],
    ['a server with an error', { kind: 'status', status: 500 }, 'internal error', 'later'],
    ['a server that hangs', { kind: 'hang' }, 'took too long', 'loading the model'],
  ] as const)('[U02] gives advice for %s', async (_what, fault, reason, fix) => {
    const { double, choice } = await openDouble();
    double.fault(fault);
    const found = await probe({ ...choice, apiKey: 'sk-of-the-test' }, 1_000);
    expect(found).toMatchObject({
      kind: 'problem',
      reason: expect.stringContaining(reason),
      fix: expect.stringContaining(fix),
    });
    expect(JSON.stringify(found)).not.toContain('sk-of-the-test');
  });

  it('[U02] gives advice for an unreachable server', async () => {
    const { double, choice } = await openDouble();
    await double.close();
    expect(await probe(choice)).toMatchObject({
      kind: 'problem',
      reason: expect.stringContaining('cannot be reached'),
      models: null,
      time: null,
    });
  });

  it('[U02] covers the main model, each fallback and each choice', async () => {
    const { choice } = await openDouble();
    const deps = { ollamaHost: undefined };
    const other = { ...choice, model: 'other' };
    const settings = { model: choice, fallback: ['offline'], choices: [other] } as const;
    expect(await listConfiguredModels(settings, deps)).toEqual([choice, 'offline', other]);
  });
});
