import { vi } from 'vitest';

/** For tests: what the process has written since. */
export interface CapturedOutput {
  out: string;
  err: string;
}

/** Takes what is written instead of the terminal, until `vi.restoreAllMocks()`. */
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
