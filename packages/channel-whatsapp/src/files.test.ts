import { describe, expect, it } from 'vitest';
import { toMediaUrl } from './files.ts';

const REAL = 'wss://web.whatsapp.com/ws/chat';
const TEST = 'ws://127.0.0.1:9/ws/chat';

describe('the address of a file', () => {
  it.each([
    'https://mmg.whatsapp.net/v/t62.7118-24/1.enc?ccb=11-4',
    'https://media-fra3-1.cdn.whatsapp.net/v/1.enc',
  ])('[F10] is accepted for %s', (address) => {
    expect(toMediaUrl(address, REAL)?.href).toBe(address);
  });

  it.each([
    'http://mmg.whatsapp.net/v/1.enc',
    'https://mmg.whatsapp.net.example.org/1.enc',
    'https://examplewhatsapp.net/1.enc',
    'https://whatsapp.net/1.enc',
    'https://mmg.whatsapp.net@example.org/1.enc',
    'https://me:secret@mmg.whatsapp.net/1.enc',
    'https://mmg.whatsapp.net:8443/1.enc',
    'https://mmg.whatsapp.net.@127.0.0.1/1.enc',
    'https://127.0.0.1/1.enc',
    'https://localhost/1.enc',
    'https://[::1]/1.enc',
    'https://10.0.0.1/1.enc',
    'file:///etc/passwd',
    '/etc/passwd',
    '',
  ])('[F10] is refused for %s', (address) => {
    expect(toMediaUrl(address, REAL)).toBeUndefined();
  });

  it("is accepted on this machine if the account's server is on this machine", () => {
    expect(toMediaUrl('https://127.0.0.1:9/1.enc', TEST)?.port).toBe('9');
    expect(toMediaUrl('http://127.0.0.1:9/1.enc', TEST)).toBeUndefined();
    expect(toMediaUrl('https://10.0.0.1/1.enc', TEST)).toBeUndefined();
  });
});
