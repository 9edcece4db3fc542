import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type DataFolder, printOf } from './data-folder.ts';

type TokenFile = Pick<DataFolder, 'tokenFile'>;

/** Shorter ones are halves. */
const SHORTEST = 32;

/** The token of the page and the API; made at the first start, readable by its owner alone. */
export function readOrMakeToken(folder: TokenFile): string {
  const token = readToken(folder);
  if (token === null) return replaceToken(folder);
  chmodSync(folder.tokenFile, 0o600);
  return token;
}

/** The token of a data folder; null where none was made yet. */
export function readToken({ tokenFile }: TokenFile): string | null {
  if (!existsSync(tokenFile)) return null;
  const token = readFileSync(tokenFile, 'utf8').trim();
  return token.length >= SHORTEST ? token : null;
}

/** Makes another token. In one step: a process that reads the file finds the old one or the new one. */
export function replaceToken({ tokenFile }: TokenFile): string {
  const token = randomBytes(24).toString('base64url');
  const draft = `${tokenFile}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(draft, `${token}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(draft, tokenFile);
  } finally {
    rmSync(draft, { force: true });
  }
  return token;
}

/** The token as it is when it is asked for: `parley token rotate` of another process counts at once. */
export function liveToken(folder: TokenFile): () => string {
  let token = readOrMakeToken(folder);
  let seen = printOf(folder.tokenFile);
  return () => {
    const print = printOf(folder.tokenFile);
    if (print !== seen) {
      seen = print;
      // A file that is gone opens nothing and shuts nobody out.
      token = readToken(folder) ?? token;
    }
    return token;
  };
}
