import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { reasonOf } from '@parley/core';
import { createUpgradeError } from './upgrade-error.ts';

/** What the operator asked for, and where releases may come from. */
export interface WantedRelease {
  /** A file, or a version such as `0.2.0`. */
  readonly word: string;
  /** The checksum from the command line; otherwise a file beside the release contains it. */
  readonly sha256?: string | undefined;
  /** The setting `upgrade.url`, in which `{version}` stands for the version. */
  readonly url: string | undefined;
  /** The folder for a downloaded file. */
  readonly folder: string;
}

/** The largest release that is downloaded, in bytes; today's has less than 6 MB. */
const MAX_RELEASE_BYTES = 200_000_000;
const MAX_CHECKSUM_BYTES = 4_096;
/** The deadline (ms) of a download. */
const DOWNLOAD_WITHIN_MS = 10 * 60_000;
const VERSION = /^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/;

/**
 * Finds the packed release and verifies its checksum. A version comes only from the address in the
 * settings: no registry is asked, because the name `parley` on npm belongs to another package.
 * Returns the path of the file.
 */
export async function findRelease(wanted: WantedRelease): Promise<string> {
  const { word, folder } = wanted;
  const version = VERSION.exec(word)?.[1];
  if (version === undefined || existsSync(word)) return findFile(wanted);
  const address = getReleaseAddress(wanted.url, version);
  const expected =
    wanted.sha256 ?? (await download(`${address}.sha256`, readChecksumAnswer)).toLowerCase();
  const file = join(folder, `parley-${version}.tgz`);
  await download(address, (response) => saveAnswer(response, file));
  await compareChecksum(file, parseChecksum(expected, `${address}.sha256`));
  return file;
}

async function findFile({ word, sha256 }: WantedRelease): Promise<string> {
  const file = resolve(word);
  if (!existsSync(file)) {
    throw createUpgradeError(
      'upgrade-not-a-release',
      `There is no file ${file}. Name a packed release (parley-VERSION.tgz), or a version such as 0.2.0.`,
    );
  }
  const beside = `${file}.sha256`;
  if (sha256 === undefined && !existsSync(beside)) {
    throw createUpgradeError(
      'upgrade-no-checksum',
      `The checksum of ${basename(file)} is not known. Give the one that was published with the release: --sha256 CHECKSUM, or put it into ${beside}.`,
    );
  }
  const text = sha256 ?? readFileSync(beside, 'utf8').slice(0, MAX_CHECKSUM_BYTES);
  await compareChecksum(file, parseChecksum(text, sha256 === undefined ? beside : '--sha256'));
  return file;
}

function getReleaseAddress(url: string | undefined, version: string): string {
  if (url !== undefined) return url.replaceAll(/\{version\}|%7Bversion%7D/gi, version);
  throw createUpgradeError(
    'upgrade-no-address',
    `The settings do not say where version ${version} can be found. Download the packed release yourself and give its file, or set upgrade.url to an address with {version} in it.`,
  );
}

/** Accepts a bare checksum, and the lines that `sha256sum` writes. */
function parseChecksum(text: string, from: string): string {
  const [found] = /\b[0-9a-f]{64}\b/i.exec(text) ?? [];
  if (found !== undefined) return found.toLowerCase();
  throw createUpgradeError(
    'upgrade-no-checksum',
    `${from} contains no SHA-256 checksum, which has 64 hexadecimal digits. Nothing was installed.`,
  );
}

async function compareChecksum(file: string, expected: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const found = hash.digest('hex');
  if (found === expected) return;
  throw createUpgradeError(
    'upgrade-checksum',
    `${file} is not the published release: its checksum is ${found}, but ${expected} was expected. Nothing was installed. Download it again.`,
  );
}

async function download<T>(address: string, read: (response: Response) => Promise<T>): Promise<T> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(DOWNLOAD_WITHIN_MS) });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    return await read(response);
  } catch (error) {
    throw createUpgradeError(
      'upgrade-download',
      `${address} could not be downloaded (${reasonOf(error)}). Nothing was installed. Check upgrade.url and the version, and try again.`,
      error,
    );
  }
}

async function readChecksumAnswer(response: Response): Promise<string> {
  let text = '';
  for await (const chunk of limitBytes(response, MAX_CHECKSUM_BYTES))
    text += Buffer.from(chunk).toString('latin1');
  return text;
}

async function saveAnswer(response: Response, file: string): Promise<void> {
  try {
    const to = createWriteStream(file, { mode: 0o600 });
    await pipeline(limitBytes(response, MAX_RELEASE_BYTES), to);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

async function* limitBytes(response: Response, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw new Error(`it is larger than ${limit} bytes`);
    yield chunk;
  }
}
