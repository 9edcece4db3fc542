import { vi } from 'vitest';

export interface CapturedOutput {
  out: string;
  err: string;
}

export function captureOutput(): CapturedOutput {
  const written = { out: '', err: '' };
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.out += text;
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.err += text;
    return true;
  });
  return written;
}
