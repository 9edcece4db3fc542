import type { ModelRequest } from '@parley/models';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createModel, createProviderSettings } from './ask-model.ts';
import { getMessageText, listImages } from './chat-request.ts';
import { type ModelDouble, startModelDouble } from './index.ts';

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
const request: ModelRequest = {
  system: [],
  messages: [
    { role: 'user', content: 'what is it?', images: [{ mimeType: 'image/png', bytes: PNG }] },
  ],
};

let double: ModelDouble;
beforeEach(async () => {
  double = await startModelDouble();
});
afterEach(() => double.close());

async function ask(more: { vision?: boolean } = {}): Promise<string> {
  const { model } = createModel(createProviderSettings(double, more));
  let text = '';
  for await (const event of model.stream(request, new AbortController().signal)) {
    if (event.type === 'finish') text = event.text;
  }
  return text;
}
const asked = () => double.requests.map(({ body }) => body.messages[0]);

describe('pictures in requests to a model', () => {
  it('[F10] are sent byte for byte, beside the text about them', async () => {
    expect(await ask()).toBe('You said: what is it?');
    expect(listImages(asked()[0])).toEqual([{ mimeType: 'image/png', bytes: PNG }]);
  });

  it('[F10] are left out when the server refuses them, and the model is informed', async () => {
    double.fault({ kind: 'status', status: 400 });
    expect(await ask()).toContain('did not take them');
    expect(asked().map((message) => listImages(message).length)).toEqual([1, 0]);
  });

  it('[F10] are never sent to a model that the settings mark as text-only', async () => {
    expect(await ask({ vision: false })).toContain('takes text only');
    expect(asked().map((message) => listImages(message).length)).toEqual([0]);
    expect(getMessageText(asked()[0])).toContain('what is it?');
  });
});
