import { expect, it } from 'vitest';
import { ChannelPageStore } from './channel-pages.ts';

it('[D07] drops and reports the channel that has been silent longest if there are more than 50,000', () => {
  const dropped: string[] = [];
  const pages = new ChannelPageStore((channelId) => dropped.push(channelId));
  for (let n = 1; n <= 50_000; n += 1) pages.advance(String(n), String(100_000 + n));
  pages.advance('1', '200000');
  expect(dropped).toEqual([]);
  pages.advance('new', '300000');
  expect(dropped).toEqual(['2']);
  expect(pages.size).toBe(50_000);
  expect(pages.get('1')).toBe('200000');
  expect(pages.has('2')).toBe(false);
});

it('[D01] never moves a position backward', () => {
  const pages = new ChannelPageStore(() => {});
  pages.advance('1', '20');
  pages.advance('1', '3');
  expect(pages.get('1')).toBe('20');
});
