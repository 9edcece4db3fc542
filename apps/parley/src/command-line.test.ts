import { describe, expect, it } from 'vitest';
import { commandLine } from './command-line.ts';
import { defaultDataFolder } from './data-folder.ts';
import { reachableAddress } from './reachable-address.ts';

describe('a command as a person types it', () => {
  it('is short where the data folder is the usual one', () => {
    expect(commandLine('chat', { path: defaultDataFolder() })).toBe('npm run parley -- chat');
  });

  it.each([
    ['/srv/parley', '/srv/parley'],
    ['/my data', "'/my data'"],
    ["/it's mine", "'/it'\\''s mine'"],
    ['/a;rm -rf b', "'/a;rm -rf b'"],
  ])('names any other folder so that a shell reads it as it is: %s', (path, written) => {
    expect(commandLine('start', { path })).toBe(`npm run parley -- start --data ${written}`);
  });
});

describe('the address that is shown', () => {
  it.each([
    ['http://0.0.0.0:7411', 'http://127.0.0.1:7411'],
    ['http://[::]:7411', 'http://[::1]:7411'],
    ['http://127.0.0.1:7411', 'http://127.0.0.1:7411'],
    ['http://10.0.0.0:80', 'http://10.0.0.0:80'],
  ])('of %s is %s', (address, shown) => {
    expect(reachableAddress(address)).toBe(shown);
  });
});
