export type { HostileServer } from './hostile-host.ts';
export { HOSTILE_REQUESTS, type Judged, type JudgedServer, judgeServer } from './judge-server.ts';
export { brokenBounds, MAX_GROWTH_BYTES, NAIVE, type Resisted, resistAttacks } from './resist.ts';
