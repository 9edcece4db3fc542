import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { whatsapp } from './index.ts';

describe('WhatsApp', () => {
  it('[F05] never answers a stranger', () => {
    expect(whatsapp.answersStrangers).toBe(false);
  });
});

describe('the WhatsApp channel without settings', () => {
  it('[F03] loads neither Baileys nor the QR code renderer', () => {
    const program = `
      const { registerHooks } = await import('node:module');
      const seen = [];
      registerHooks({ resolve: (name, context, next) => (seen.push(name), next(name, context)) });
      await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)});
      console.log(JSON.stringify(seen));`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program]);
    const names: unknown = JSON.parse(printed.toString());
    expect(names).toContain('./settings.ts');
    expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/baileys|signal$/)]));
    expect(names).not.toContain('qrcode');
  });
});
