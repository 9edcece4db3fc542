import type { SettingsPath } from './path.ts';

const SECRET_NAME =
  /(?:token|key|secret|password|passphrase|authorization|cookie)$|^(?:tokens|keys|secrets|passwords)$/i;
const SECRET_LINE = /^(\s*(?:-\s+)?["']?)([\w-]+)(["']?\s*:\s*)(.+)$/;

/** True when a value under this key is a secret by its name: `token`, `apiKey`, `password`, … */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** True when any key on the way says that what follows is secret. */
export function isSecretPath(path: SettingsPath): boolean {
  return path.some((step) => typeof step === 'string' && isSecretName(step));
}

/** A line of YAML fit to be shown: a secret's value becomes dots, as many as it had characters. */
export function maskLine(line: string): string {
  const [, before = '', name = '', colon = '', value = ''] = SECRET_LINE.exec(line) ?? [];
  if (name === '' || !isSecretName(name) || value.startsWith('${')) return line;
  return `${before}${name}${colon}${'•'.repeat(value.length)}`;
}

/** The secrets that a secret value holds: the value itself, what stands behind a scheme, and what `secretsWithin` finds. */
export function secretsIn(value: string): string[] {
  const [, scheme = '', credentials = ''] = /^(bearer|basic|token|bot)\s+(\S+)$/i.exec(value) ?? [];
  const basic = scheme.toLowerCase() === 'basic' ? passwordOf(credentials) : '';
  const within = secretsWithin(value).map(({ text }) => text);
  return [...new Set([value, credentials, basic, ...within])].filter((secret) => secret !== '');
}

/** A part of a longer text that may be a secret; `isNamed`: it stands where only secrets stand. */
interface FoundSecret {
  readonly text: string;
  readonly isNamed: boolean;
}

/**
 * What may be secret inside a text that is none as a whole: user and password, queries and long random
 * steps of a URL's path, credentials behind a scheme, `--api-key=…`. As written and, in URLs, as meant.
 */
export function secretsWithin(value: string): readonly FoundSecret[] {
  const urls = [...value.matchAll(/[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi)].flatMap(([url]) =>
    partsOf(url),
  );
  const flags = [...value.matchAll(/(?:^|\s)-{0,2}([\w-]+)\s*[=:]\s*(\S.*)$/g)]
    .filter(([, name = '']) => isSecretName(name))
    .flatMap(([, , secret = '']) => [
      secret,
      /^(?:bearer|basic|token|bot)\s+(\S+)$/i.exec(secret)?.[1],
    ]);
  const found = flags.flatMap((text) => (text === undefined ? [] : [{ text, isNamed: true }]));
  return [...urls, ...found];
}

function partsOf(url: string): FoundSecret[] {
  const [, login = '', rest = ''] = /^[^:]+:\/\/(?:([^/?#]*)@)?(.*)$/s.exec(url) ?? [];
  const [, user = '', password = ''] = /^([^:]*):?(.*)$/s.exec(login) ?? [];
  const [, path = '', query = ''] = /^[^/?#]*([^?#]*)\??([^#]*)/.exec(rest) ?? [];
  const asked = query.split('&').map((pair) => /^([^=]*)=?(.*)$/s.exec(pair) ?? []);
  return [
    { text: user, isNamed: false },
    { text: password, isNamed: true },
    ...asked.map(([, name = '', text = '']) => ({ text, isNamed: isSecretName(name) })),
    ...path
      .split('/')
      .filter((step) => step.length >= 20 && /\d/.test(step) && /[a-z]/i.test(step))
      .map((text) => ({ text, isNamed: false })),
  ].flatMap((found) => [found, { ...found, text: decoded(found.text) }]);
}

function passwordOf(credentials: string): string {
  return /:(.+)$/s.exec(Buffer.from(credentials, 'base64').toString('utf8'))?.[1] ?? '';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A single % is no mistake in a password.
  }
}
