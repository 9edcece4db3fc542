import { readFileSync } from 'node:fs';
import { getSecretEnvVars, listEnvVars, listPlatformAdapters } from 'chat/adapters';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listOfferedAdapters, PLATFORMS } from '../../../packages/channel-chat-sdk/src/catalog.ts';

const ROOT = new URL('../../../', import.meta.url);
const Manifest = z.object({ devDependencies: z.record(z.string(), z.string()) });
const { devDependencies } = Manifest.parse(
  JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')),
);

const platforms = PLATFORMS.map((platform) => [platform.name, platform] as const);

function slugOf(use: string): string {
  const slug = listPlatformAdapters().find(({ packageName }) => packageName === use)?.slug;
  if (slug === undefined) throw new Error(`${use} is not in the catalog`);
  return slug;
}

describe('[F15] the Chat SDK catalog', () => {
  it.each(platforms)('contains each tested platform in the tested version: %s', (_name, one) => {
    expect(listPlatformAdapters().find(({ packageName }) => packageName === one.use)?.name).toBe(
      one.name,
    );
    expect(devDependencies[one.use]).toBe(one.version);
  });

  it.each(platforms)('has a setting for each environment variable of %s', (_name, one) => {
    const known = Object.values(one.options).flatMap(({ variable }) => variable ?? []);
    const variables = listEnvVars(slugOf(one.use)).map(({ key }) => key);
    expect([...known, ...Object.keys(one.left)].toSorted()).toEqual(variables.toSorted());
  });

  it('lists only secrets that *Set up* asks for, and alternatives to them', () => {
    const missing = PLATFORMS.flatMap(({ use, asks, options, left }) => {
      const asked = asks.flatMap((key) => options[key]?.variable ?? []);
      const secrets = getSecretEnvVars(slugOf(use)).map(({ key }) => key);
      return secrets.filter((key) => !asked.includes(key) && !(key in left));
    });
    expect(missing).toEqual(['GITHUB_PRIVATE_KEY', 'LINEAR_ACCESS_TOKEN']);
  });

  it.each(platforms)('names options that the adapter declares: %s', (_name, one) => {
    const types = readFileSync(new URL(`node_modules/${one.use}/dist/index.d.ts`, ROOT), 'utf8');
    const undeclared = Object.keys(one.options).filter(
      (key) => !new RegExp(`^ {4}${key}\\??:`, 'm').test(types),
    );
    expect(undeclared).toEqual([]);
  });

  it('offers each platform that is not built in, once', () => {
    const slugs = listOfferedAdapters().map(({ slug }) => slug);
    expect(new Set(slugs).size).toBe(slugs.length);
    expect(slugs.length).toBeGreaterThan(20);
    const left = listPlatformAdapters().map(({ slug }) => slug);
    expect(left.filter((slug) => !slugs.includes(slug))).toEqual([
      ...['discord', 'gmail', 'telegram', 'web'],
    ]);
  });
});
