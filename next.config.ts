import type { NextConfig } from 'next'
import createNextIntlPlugin from 'next-intl/plugin'

const config: NextConfig = {
  output: 'standalone',
  outputFileTracingRoot: import.meta.dirname,
  turbopack: { root: import.meta.dirname },
  // `npm run check` checks the types of the whole tree; a tsconfig of its own keeps Next from editing the common one.
  typescript: { ignoreBuildErrors: true, tsconfigPath: 'app/tsconfig.json' },
  serverExternalPackages: ['better-auth', 'drizzle-orm', 'ioredis', 'mysql2', 'pino', 'prom-client', 're2js'],
  poweredByHeader: false,
  headers: async () => [
    {
      source: '/:path*',
      // The content security policy, which needs a fresh nonce for each page, is in proxy.ts.
      headers: [
        { key: 'X-Content-Type-Options', value: 'nosniff' },
        { key: 'X-Frame-Options', value: 'DENY' },
        { key: 'Referrer-Policy', value: 'same-origin' },
        { key: 'Permissions-Policy', value: 'camera=(), microphone=(), geolocation=()' },
        { key: 'Cross-Origin-Opener-Policy', value: 'same-origin' },
        { key: 'Cross-Origin-Resource-Policy', value: 'same-origin' },
      ],
    },
  ],
}

export default createNextIntlPlugin('./app/locale.ts')(config)
