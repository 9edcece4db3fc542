import type { BuildChange, Replacements } from './installed.ts';

/** A broken build, and the kind of finding because of which it is refused. */
export interface BadBuild extends BuildChange {
  readonly name: string;
  readonly kind: string;
}

const STARTS = "process.argv.includes('start')";
/** Runs before each part is sent to the platform. */
const SEND = 'sent=await(await telegram()).callApi(method,payload,options)';
const onSend = (call: string): Replacements => [
  [
    SEND,
    `sent=await(${call})(async()=>(await telegram()).callApi(method,payload,options),payload)`,
  ],
];
/** Adds a text to the messages of each request to the model. */
const addToRequests = (text: string): string => `
  const write = JSON.stringify;
  JSON.stringify = (value, ...rest) =>
    value?.role === 'user' && typeof value.content === 'string'
      ? write({ ...value, content: ${text} + value.content }, ...rest)
      : write(value, ...rest);`;

/** The last migration, to which a bad one is added. */
const LAST = '[41,"inbox"]';
const STATEMENTS = 'statements:dialect=>listMigrationStatements(number,dialect)';
const withMigration = (statement: string): Replacements => [
  [LAST, `${LAST},[42,"more"]`],
  [
    STATEMENTS,
    `statements:dialect=>number===42?[${JSON.stringify(statement)}]:listMigrationStatements(number,dialect)`,
  ],
];

/** Builds that a rehearsal must refuse. */
export const BAD_BUILDS: readonly BadBuild[] = [
  { name: 'crash at start', kind: 'start', code: `if (${STARTS}) throw new Error('broken');` },
  {
    ...{ name: 'crash after a while', kind: 'start' },
    code: `if (${STARTS}) setTimeout(() => process.exit(7), 1_500);`,
  },
  {
    ...{ name: 'failing migration', kind: 'migration' },
    replace: withMigration('alter table no_such_table add column x text'),
  },
  {
    ...{ name: 'migration that drops a column', kind: 'data' },
    replace: withMigration('alter table sign_in drop column used_at'),
  },
  {
    ...{ name: 'migration that drops rows', kind: 'data' },
    replace: withMigration('delete from outbox where seq in (select max(seq) from outbox)'),
  },
  {
    ...{ name: 'data that cannot be taken back', kind: 'return' },
    replace: withMigration('alter table link_code rename to code_of_link'),
  },
  {
    ...{ name: 'forgets conversations', kind: 'data' },
    code: `if (process.argv.includes('conversations')) { console.log('{"conversations": []}'); process.exit(0); }`,
  },
  {
    ...{ name: 'failing doctor', kind: 'doctor' },
    code: `if (process.argv.includes('doctor')) {
      console.log('{"checks": [{"check": "disk", "status": "failed", "found": "it is broken"}]}');
      process.exit(1);
    }`,
  },
  {
    ...{ name: 'never ready', kind: 'start' },
    code: `const { Server } = require('node:http');
      const emit = Server.prototype.emit;
      Server.prototype.emit = function (event, request, response) {
        if (event !== 'request' || request.url !== '/readyz') return emit.apply(this, arguments);
        response.writeHead(503).end('down: broken');
        return true;
      };`,
  },
  {
    ...{ name: 'answers nothing', kind: 'messages' },
    replace: onSend(`()=>new Promise(()=>{})`),
  },
  {
    ...{ name: 'doubled part', kind: 'messages' },
    replace: onSend('async(send)=>{await send();return send()}'),
  },
  {
    ...{ name: 'lost part', kind: 'messages' },
    replace: onSend(
      `async(send,{chat_id,text})=>/answer 0\\.2/.test(text)?{message_id:77_777,date:1,chat:{id:chat_id,type:'private'}}:send()`,
    ),
  },
  {
    ...{ name: 'lost message', kind: 'messages' },
    replace: [
      [
        '[updates,self]=await Promise.all([api.getUpdates(offset,seconds,signal),me??api.getMe(signal)])',
        '[updates,self]=await Promise.all([api.getUpdates(offset,seconds,signal).then(all=>all.filter(one=>!/rehearsal 2\\]/.test(JSON.stringify(one)))),me??api.getMe(signal)])',
      ],
    ],
  },
  {
    ...{ name: 'private text in a group', kind: 'privacy' },
    code: `const { readFileSync: readNote } = require('node:fs');
      const noteAt = process.argv[process.argv.indexOf('--data') + 1] + '/workspace/MEMORY.md';
      ${addToRequests("readNote(noteAt, 'utf8')")}`,
  },
  { name: 'changed prompt', kind: 'prompts', code: addToRequests("'Be brief. '") },
  {
    ...{ name: 'ten times slower', kind: 'speed' },
    replace: onSend('async(send)=>{await new Promise(wake=>setTimeout(wake,700));return send()}'),
  },
  {
    ...{ name: 'memory leak', kind: 'memory' },
    replace: onSend(
      'async(send)=>{(globalThis.leak??=[]).push(Buffer.alloc(30_000_000,1));return send()}',
    ),
  },
  {
    ...{ name: 'flood of errors', kind: 'log' },
    code: `if (${STARTS}) setInterval(() => {
      for (let n = 0; n < 20; n += 1) console.log('{"level":"error","msg":"something is broken"}');
    }, 50);`,
  },
  {
    ...{ name: 'wrong exit code', kind: 'stop' },
    code: `const exit = process.exit;
      if (${STARTS}) process.exit = () => exit(3);`,
  },
  {
    ...{ name: 'refuses the settings', kind: 'settings' },
    code: `if (process.argv.includes('config')) {
      console.log('{"kind": "invalid", "problems": [{"kind": "unknown", "path": "model"}]}');
      process.exit(1);
    }`,
  },
  {
    ...{ name: 'does not know the database', kind: 'migration' },
    replace: [[`,${LAST}`, '']],
  },
  {
    ...{ name: 'hangs at stop', kind: 'stop' },
    code: `if (${STARTS}) { process.exit = () => {}; setInterval(() => {}, 1_000); }`,
  },
  {
    ...{ name: 'failing cases', kind: 'cases' },
    code: `if (process.argv.includes('eval')) { console.error('1 case fails'); process.exit(1); }`,
  },
  {
    ...{ name: 'other requests for recorded turns', kind: 'prompts' },
    code: `if (process.argv.includes('replay')) {
      console.log('{"same": 3, "changed": 2, "incomplete": 0, "diverged": 0, "turns": []}');
      process.exit(0);
    }`,
  },
];
