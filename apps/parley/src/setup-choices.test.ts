import { describe, expect, it } from 'vitest';
import { listSetupProviders } from './setup-choices.ts';

const SERVERS: ReadonlyMap<string, string> = new Map([
  ['http://127.0.0.1:11434/v1/models', 'llama3.2'],
  ['http://127.0.0.1:1234/v1/models', 'qwen3'],
  ['http://127.0.0.1:8080/v1/models', 'gemma'],
]);

describe('the model servers offered by the setup', () => {
  const readJson = async (url: string) => {
    const id = SERVERS.get(url);
    return id === undefined ? null : { data: [{ id }] };
  };

  it('[U02] start with the servers on this machine, each with its model and listed once', async () => {
    const providers = await listSetupProviders({ ollamaHost: undefined, readJson });
    const found = providers.filter(({ model }) => model !== undefined);
    expect(providers.slice(0, 3)).toEqual(found);
    expect(found.map(({ name, model }) => [name, model])).toEqual([
      ['Ollama, found at 127.0.0.1:11434', 'llama3.2'],
      ['LM Studio, found at 127.0.0.1:1234', 'qwen3'],
      ['llama.cpp, found at 127.0.0.1:8080', 'gemma'],
    ]);
    expect(providers.map(({ name }) => name)).not.toContain('Ollama');
  });

  it('[U02] are only the known services if no local server answers', async () => {
    const providers = await listSetupProviders({
      ollamaHost: undefined,
      readJson: async () => null,
    });
    expect(providers.filter(({ model }) => model !== undefined)).toEqual([]);
    expect(providers.map(({ name }) => name)).toContain('Ollama');
  });
});
