import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PLATFORMS } from '../../packages/channel-chat-sdk/src/catalog.ts';

const page = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)), 'utf8');
const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

describe('[F15] the documentation of a hosted platform', () => {
  it.each(PLATFORMS.map((one) => [one.name, one] as const))(
    'lists in the words of *Set up* what is not durable: %s',
    (_name, platform) => {
      const text = page(platform.page);
      const [, section = ''] = text.split('## What is not durable\n');
      const sentences = platform.notDurable.map((sentence) => `- ${sentence}`);
      expect(inOneLine(section.split('\n\n')[0] ?? '')).toBe(sentences.join(' '));
      expect(text).toContain(`use: '${platform.use}'`);
      expect(page('channels.md')).toContain(`](${platform.page})`);
    },
  );

  it.each(
    PLATFORMS.filter(({ isCalled }) => isCalled({ signingSecret: 'a' })).map(
      (one) => [one.name, one] as const,
    ),
  )('shows the address that %s calls', (_name, { page: name, channel }) => {
    expect(page(name)).toContain(`https://parley.example.org/channels/${channel}/default/`);
  });

  it.each(PLATFORMS.map((one) => [one.name, one] as const))(
    'explains each value that *Set up* asks for: %s',
    (_name, { page: name, asks, options }) => {
      const text = page(name);
      const missing = asks.filter((key) => {
        const { variable = '' } = options[key] ?? {};
        return !text.includes(`${key}:`) && !text.includes(variable);
      });
      expect(missing).toEqual([]);
    },
  );
});
