import { describe, expect, it } from 'vitest';
import { type SpeechSettings, synthesizeSpeech } from './speak.ts';

const OGG = Uint8Array.from([...Buffer.from('OggS'), 0, 2, 255, 39]);
const SETTINGS: SpeechSettings = {
  ...{ baseUrl: 'http://speech.test/v1/', apiKey: 'sk-secret', model: 'tts-1' },
  ...{ voice: 'alloy', format: 'opus' },
};

/**
 * Calls `speak` with a service that returns these responses, one per attempt, and returns the
 * requests.
 */
async function say(...answers: readonly (Response | Error)[]) {
  const asked: { readonly url: string; readonly init: RequestInit | undefined }[] = [];
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const answer = answers[asked.length] ?? new Error('too many requests');
    asked.push({ url: String(url), init });
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const signal = new AbortController().signal;
  return { asked, said: await synthesizeSpeech('Good morning.', SETTINGS, { fetch, signal }) };
}

describe('speaking a text with a speech service', () => {
  it('[F10] sends a request that follows OpenAI’s protocol, and names the recording by its format', async () => {
    const { asked, said } = await say(new Response(OGG));
    const sound = { kind: 'spoken', bytes: OGG, mimeType: 'audio/ogg', name: 'voice.ogg' };
    expect(said).toEqual(sound);
    expect(asked[0]?.url).toBe('http://speech.test/v1/audio/speech');
    expect(asked[0]?.init?.headers).toMatchObject({ authorization: 'Bearer sk-secret' });
    expect(JSON.parse(String(asked[0]?.init?.body))).toEqual({
      ...{ model: 'tts-1', voice: 'alloy', input: 'Good morning.', response_format: 'opus' },
    });
  });

  it('[F10] retries an overloaded service once', async () => {
    const { asked, said } = await say(new Response('busy', { status: 503 }), new Response(OGG));
    expect([asked.length, said.kind]).toEqual([2, 'spoken']);
  });

  it.each([
    ['a wrong key', new Response('', { status: 401 }), /refused the key.*media\.speech\.apiKey/],
    ['another address', new Response('', { status: 404 }), /check media\.speech$/],
    ['no sound', Response.json({ ok: true }), /without a recording.*media\.speech\.baseUrl/],
    [
      'more than a recording holds',
      new Response(new Uint8Array(20_000_001)),
      /without a recording/,
    ],
  ])('[F10] explains how to fix %s', async (_what, answer, detail) => {
    expect((await say(answer)).said).toEqual({
      kind: 'failed',
      detail: expect.stringMatching(detail),
    });
  });

  it('[F10] reports a service that cannot be reached', async () => {
    const { asked, said } = await say(new Error('refused'), new Error('refused'));
    expect(asked).toHaveLength(2);
    expect(said).toEqual({ kind: 'failed', detail: expect.stringContaining('speech.test') });
  });
});
